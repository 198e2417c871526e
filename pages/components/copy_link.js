export default function (component) {
  const button = component.parentElement.querySelector("button");
  const showBriefly = (text) => {
    button.textContent = text;
    setTimeout(() => { button.textContent = "Copy link"; }, 1500);
  };
  button.onclick = () => {
    const address = window.location.href;
    if (!navigator.clipboard) { window.prompt("Copy this link", address); return; }
    navigator.clipboard.writeText(address).then(() => showBriefly("Copied"), () => window.prompt("Copy this link", address));
  };
}
