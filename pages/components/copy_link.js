export default function (component) {
  const button = component.parentElement.querySelector("button");
  const said = (words) => {
    button.textContent = words;
    setTimeout(() => { button.textContent = "Copy link"; }, 1500);
  };
  button.onclick = () => {
    const address = window.location.href;
    if (!navigator.clipboard) { window.prompt("Copy this link", address); return; }
    navigator.clipboard.writeText(address).then(() => said("Copied"), () => window.prompt("Copy this link", address));
  };
}
