// Format numbers like `flipcore.stats.base.estimate`, so that a board and the tables under it show the same texts.
const MISSING = "–";
const MINUS = "−";

// `number_text`: a typographic minus, thousands separated, no negative zero; a tie goes to the even digit.
function numberText(x, digits = 2, sign = false) {
  if (Number.isNaN(x)) return MISSING;
  if (!Number.isFinite(x)) return x > 0 ? "∞" : `${MINUS}∞`;
  const near = Number(x.toPrecision(12));
  const [size, halves] = [Math.abs(near), Math.abs(near) * 2 ** (digits + 1)];
  let text = size.toFixed(digits);
  if (Number.isInteger(halves) && halves % 2 === 1) {  // halfway between two texts; `toFixed` takes the larger one
    const lower = Math.floor(size * 10 ** digits);
    text = ((lower + (lower % 2)) / 10 ** digits).toFixed(digits);
  }
  const [whole, part] = text.split(".");
  text = whole.replace(/\B(?=(\d{3})+$)/g, ",") + (part === undefined ? "" : `.${part}`);
  const isZero = !/[1-9]/.test(text);
  return `${near < 0 && !isZero ? MINUS : sign && near > 0 && !isZero ? "+" : ""}${text}`;
}

// `percent_text` of a share
function percentText(share, digits = 0) {
  return Number.isNaN(share) ? MISSING : `${numberText(100 * share, digits)}%`;
}

// `Estimate.text_percent` of a share with limits: "87% [80, 92]"
const NARROW_INTERVAL = 0.05;
function percentInterval(value, low, high) {
  if (Number.isNaN(value) || !Number.isFinite(low) || !Number.isFinite(high)) return percentText(value);
  const digits = high - low < NARROW_INTERVAL ? 1 : 0;
  return `${percentText(value, digits)} [${numberText(100 * low, digits)}, ${numberText(100 * high, digits)}]`;
}

// `Estimate.likely_percent` of a share with limits: "40% (likely 34 to 46%)"
function likelyPercent(value, low, high) {
  if (Number.isNaN(value) || !Number.isFinite(low) || !Number.isFinite(high)) return percentText(value);
  const digits = high - low < NARROW_INTERVAL ? 1 : 0;
  return `${percentText(value, digits)} (likely ${numberText(100 * low, digits)} to ${percentText(high, digits)})`;
}

// Return the text of a tick of an axis; the distance of the ticks (`step`) decides the number of digits.
function tickText(x, step) {
  return numberText(x, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
}
