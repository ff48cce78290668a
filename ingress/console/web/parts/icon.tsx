/** Icons: paths of a 16 × 16 grid, drawn as outlines. */
import type { JSX } from "preact";

const PATHS = {
  bell: "M4 7a4 4 0 0 1 8 0c0 3 1.200 4 1.200 4H2.800S4 10 4 7zM6.700 13.300c.7.600 1.900.600 2.600 0",
  block: "M8 13.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11zM4.200 4.200l7.600 7.600",
  chart: "M2.5 13.5h11M4.5 11V7M8 11V3M11.5 11V5.5",
  check: "M3 8.500 6.500 12 13 4.500",
  coin: "M8 13.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11zM9.700 6.200A2.200 2.200 0 1 0 9.700 9.800",
  copy: "M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3",
  cross: "M4.500 4.500l7 7M11.500 4.500l-7 7",
  cube: "M8 2 13.500 5v6L8 14 2.500 11V5zM2.500 5 8 8l5.500-3M8 8v6",
  dash: "M3.500 8h9",
  dl: "M8 2.500v7M5 6.800 8 9.800l3-3M2.500 13h11",
  down: "M4 6l4 4 4-4",
  flow: "M3 2.500h3.500V6H3zM9.500 10H13v3.500H9.500zM4.750 6v4.250c0 .8.700 1.500 1.500 1.500H9.500",
  home: "M2.5 7 8 2.5 13.5 7v6a.5.5 0 0 1-.5.5H10V9.5H6v4H3a.5.5 0 0 1-.5-.5z",
  info: "M8 13.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11zM8 7.500V11M8 5.200h.01",
  key: "M10.5 8.5a3 3 0 1 0-2.8-2L2.5 11.7v1.8h1.8l.7-.7v-1.3h1.3l1.9-1.9a3 3 0 0 0 2.3 0zM11 5.01h.01",
  left: "M10 4 6 8l4 4",
  list: "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
  log: "M4 2.500h8v11H4zM6.200 5.500h3.600M6.200 8h3.600M6.200 10.500h2",
  menu: "M2.500 4.500h11M2.500 8h11M2.500 11.500h11",
  more: "M3 8a.5.5 0 1 0 1 0a.5.5 0 1 0-1 0M7.500 8a.5.5 0 1 0 1 0a.5.5 0 1 0-1 0M12 8a.5.5 0 1 0 1 0a.5.5 0 1 0-1 0",
  people:
    "M6 7.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM2.5 13c0-2 1.6-3.5 3.5-3.5S9.500 11 9.500 13M10.500 3.700a2 2 0 0 1 0 3.600M11.500 9.800c1.200.5 2 1.700 2 3.200",
  play: "M4.500 3v10l8-5z",
  plus: "M8 3v10M3 8h10",
  right: "M6 4l4 4-4 4",
  ring: "M8 13.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11z",
  search: "M7 11.500a4.500 4.500 0 1 0 0-9 4.500 4.500 0 0 0 0 9zM13.500 13.500l-3.300-3.300",
  send: "M2.500 8 13.500 3l-3 10.500L8 9z",
  server: "M2.500 3h11v4h-11zM2.500 9h11v4h-11zM5 5.010h.01M5 11.010h.01",
  spin: "M8 2.500A5.500 5.500 0 1 1 2.500 8",
  stop: "M4.500 4.500h7v7h-7z",
  tray: "M2.500 9.500 4.500 3h7l2 6.500v3.500h-11zM2.500 9.500h3.200c.2 1.100 1.100 1.800 2.300 1.800s2.100-.7 2.300-1.800h3.200",
  up: "M4 10l4-4 4 4",
  upload: "M8 9.800v-7M5 5.800 8 2.800l3 3M2.500 13h11",
  updown: "M5 6l3-3 3 3M5 10l3 3 3-3",
  warn: "M8 2.500 14 13H2zM8 6.500v3M8 11.300h.01",
  x: "M4 4l8 8M12 4l-8 8",
} as const;

export type IconName = keyof typeof PATHS;

/** Draws an icon. Screen readers skip it: the text beside it says the same. */
export function Icon({
  name,
  small,
  tone,
}: {
  readonly name: IconName;
  readonly small?: boolean;
  /** Status colour of the icon. Default: the colour of the text. */
  readonly tone?: string;
}): JSX.Element {
  const classes = ["icon", small === true ? "s" : "", tone === undefined ? "" : `tone-${tone}`].filter(Boolean);
  return (
    <svg class={classes.join(" ")} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}
