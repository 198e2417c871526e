export default function (component) {
  const { data, parentElement } = component;
  const box = parentElement.querySelector(".bars");
  box.replaceChildren();
  for (const [label, share, written, chosen] of data.bars) {
    const row = document.createElement("div");
    const name = document.createElement("span");
    name.textContent = label;
    const track = document.createElement("i");
    const bar = document.createElement("b");
    bar.style.width = `${100 * Math.min(Math.max(share, 0), 1)}%`;
    bar.style.background = chosen ? data.colours.genuine : data.colours.undefined;
    track.appendChild(bar);
    const value = document.createElement("em");
    value.textContent = written;
    row.append(name, track, value);
    box.appendChild(row);
  }
}
