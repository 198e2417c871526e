const PLACE = "flipscope-review|";
function waiting() {
  try {
    return Object.keys(sessionStorage).filter((key) => key.startsWith(PLACE))
      .map((key) => [key.slice(PLACE.length), JSON.parse(sessionStorage.getItem(key)).length]).filter(([, n]) => n > 0);
  } catch { return []; }
}
export default function (component) {
  const list = component.parentElement.querySelector("section");
  list.replaceChildren(...waiting().map(([name, n]) => {
    const line = document.createElement("p"), button = document.createElement("button");
    line.textContent = `The server was away. ${n} verdict${n === 1 ? "" : "s"} of ${name} ${n === 1 ? "is" : "are"} kept in this window. `;
    button.type = "button";
    button.textContent = `Go on as ${name}`;
    button.onclick = () => component.setTriggerValue("name", name);
    line.append(button);
    return line;
  }));
}
