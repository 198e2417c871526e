export default function (component) {
  const { data, parentElement } = component;
  const dialog = parentElement.querySelector("dialog");
  parentElement.querySelector("dl").replaceChildren(...data.keys.flatMap(([key, meaning]) => {
    const term = document.createElement("dt");
    const cap = document.createElement("kbd");
    cap.textContent = key;
    term.appendChild(cap);
    const text = document.createElement("dd");
    text.textContent = meaning;
    return [term, text];
  }));
  const show = () => { if (!dialog.open) dialog.showModal(); };
  parentElement.querySelector(".open").onclick = show;
  parentElement.querySelector(".close").onclick = () => dialog.close();
  parentElement.querySelector(".tour").onclick = () => { dialog.close(); window.dispatchEvent(new Event("flipscope-tour")); };
  const typing = (target) => target instanceof Element && target.closest("input, textarea, select, [contenteditable=true]");
  const listen = (event) => {
    if (event.key !== "?" || event.ctrlKey || event.metaKey || event.composedPath().some(typing)) return;
    event.preventDefault();
    show();
  };
  document.addEventListener("keydown", listen);
  return onlyLast(dialog, () => document.removeEventListener("keydown", listen));
}
