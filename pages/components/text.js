export default function (component) {
  const { data, parentElement } = component;
  const box = parentElement.querySelector(".text");
  box.style.setProperty("--genuine", data.colours.genuine);
  box.style.setProperty("--artifact", data.colours.artifact);
  box.replaceChildren();
  const tags = { same: "span", span: "mark", new: "ins", gone: "del" };
  for (const [kind, text] of data.runs) {
    const run = document.createElement(tags[kind]);
    run.textContent = text;
    box.appendChild(run);
  }
}
