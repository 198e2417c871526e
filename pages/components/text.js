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
  // A text that scrolls can be reached by key; a short one is no stop on the way.
  box.resized ??= new ResizeObserver(() => {
    if (box.scrollHeight > box.clientHeight) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  });
  box.resized.observe(box);
}
