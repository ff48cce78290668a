/** Where a prompt's picture is set: scenery, light, weather. */
import { THINGS } from "./things.ts";

export type Scenery =
  | "hills"
  | "mountains"
  | "sea"
  | "underwater"
  | "forest"
  | "city"
  | "desert"
  | "space"
  | "room"
  | "studio"
  | "abstract";
export type Light = "day" | "sunset" | "night";

export interface Setting {
  readonly scenery: Scenery;
  readonly light: Light;
  readonly weather: "clear" | "snow" | "rain";
  /** What there is to stand on by the sea or in space; null leaves it to what is to stand there. */
  readonly foreland: "shore" | "cliff" | "moon" | "mars" | null;
}

const SCENES: readonly (readonly [Scenery, RegExp])[] = [
  ["underwater", /\b(underwater|coral|reef|seabed|aquarium|under the sea|deep sea)\b/],
  ["space", /\b(space|galaxy|planets?|cosmos|universe|nebula|mars|martian|lunar|orbit)\b/],
  ["sea", /\b(sea|ocean|beach|lake|river|waves?|coast|shore|harbou?r|island|pond|cliffs?|meer|mer)\b/],
  ["mountains", /\b(mountains?|alps?|peaks?|volcano)\b/],
  ["forest", /\b(forest|woods|woodland|jungle|wald)\b/],
  ["city", /\b(city|street|skyline|buildings?|town|skyscrapers?|stadt|downtown|road|highway)\b/],
  ["desert", /\b(desert|dunes?|sahara|canyon)\b/],
  ["room", /\b(indoors?|room|kitchen|bedroom|office|bathroom|library|cafe|restaurant|interior|fireplace|classroom)\b/],
  ["hills", /\b(hills?|fields?|meadows?|garden|park|landscape|valley|farm|village|countryside|outdoors?|sky|grass)\b/],
  ["studio", /\b(studio|product|logo|icon|portrait|still life|background)\b/],
  ["abstract", /\b(abstract|pattern|gradient|texture|wallpaper|shapes?)\b/],
];

/** @param things that are wished, by name */
export function readScene(text: string, things: readonly string[]): Setting {
  return {
    scenery: SCENES.find(([, pattern]) => pattern.test(text))?.[0] ?? usualScenery(things),
    light: /\b(night|midnight|moonlit|moonlight|moon|crescent|stars|starry|dark|nacht)\b/.test(text)
      ? "night"
      : /\b(sunset|sunrise|dusk|dawn|evening|twilight|golden hour)\b/.test(text)
        ? "sunset"
        : "day",
    weather: /\b(snow|snowy|snowing|winter|blizzard|snowman|igloo|iceberg|arctic|antarctic|antarctica|icy)\b/.test(text)
      ? "snow"
      : /\b(rain|rainy|raining|storm|stormy|thunderstorm)\b/.test(text)
        ? "rain"
        : "clear",
    foreland: /\bcliffs?\b/.test(text)
      ? "cliff"
      : /\b(beach|shore|coast|island|sand)\b/.test(text)
        ? "shore"
        : /\b(martian|mars)\b/.test(text)
          ? "mars"
          : /\b(lunar|alien planet|planet surface)\b/.test(text)
            ? "moon"
            : null,
  };
}

function usualScenery(things: readonly string[]): Scenery {
  if (things.length === 0) return "abstract";
  const homes = things.map((thing) => THINGS[thing]?.home);
  if (homes.includes("room")) return "room";
  if (homes.includes("underwater")) return "underwater";
  if (things.some((thing) => THINGS[thing]?.where === "water")) return "sea";
  if (homes.includes("space")) return "space";
  if (homes.includes("desert")) return "desert";
  return homes.every((home) => home === "studio") ? "studio" : "hills";
}
