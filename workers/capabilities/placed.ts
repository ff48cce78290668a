/** Returns the position of a box within an outer box. The position is given as a compass direction such as `northeast`. */
export function placed(
  gravity: string,
  outer: { readonly width: number; readonly height: number },
  box: { readonly width: number; readonly height: number },
  margin = 0,
): { readonly left: number; readonly top: number } {
  const along = (size: number, own: number, low: string, high: string): number => {
    if (gravity.includes(low)) return margin;
    return gravity.includes(high) ? size - own - margin : Math.round((size - own) / 2);
  };
  return {
    left: along(outer.width, box.width, "west", "east"),
    top: along(outer.height, box.height, "north", "south"),
  };
}
