/** What a prompt asks to see: things, how many, in which colour, and where. */
import { MEDIA_LIMITS } from "#workers/media/limits.ts";

import { COLOURS, type Colour } from "./colours.ts";
import { THINGS } from "./things.ts";

export interface Wish {
  readonly thing: string;
  /** null leaves it to the thing. */
  readonly colour: Colour | null;
  readonly count: number;
}

export type Scenery = "hills" | "mountains" | "sea" | "forest" | "city" | "desert" | "space" | "studio" | "abstract";
export type Light = "day" | "sunset" | "night";

export interface Motif {
  readonly wishes: readonly Wish[];
  /** Colours that belong to no thing, in the prompt's order. */
  readonly colours: readonly Colour[];
  readonly scenery: Scenery;
  readonly light: Light;
  readonly weather: "clear" | "snow" | "rain";
}

/** Other words for things, some of them in other languages than English. */
const SYNONYMS: Readonly<Record<string, string>> = {
  stars: "star",
  kitten: "cat",
  kitty: "cat",
  puppy: "dog",
  hound: "dog",
  bunny: "rabbit",
  hare: "rabbit",
  pony: "horse",
  unicorn: "horse",
  oak: "tree",
  fir: "pine",
  spruce: "pine",
  christmas: "pine",
  cottage: "house",
  home: "house",
  cabin: "house",
  barn: "house",
  palace: "castle",
  tower: "lighthouse",
  camp: "tent",
  rose: "flower",
  tulip: "flower",
  daisy: "flower",
  sunflower: "flower",
  blossom: "flower",
  toadstool: "mushroom",
  man: "person",
  woman: "person",
  child: "person",
  boy: "person",
  girl: "person",
  people: "person",
  astronaut: "person",
  android: "robot",
  vehicle: "car",
  truck: "car",
  taxi: "car",
  bike: "bicycle",
  ship: "boat",
  sailboat: "boat",
  yacht: "boat",
  airplane: "plane",
  aeroplane: "plane",
  jet: "plane",
  spaceship: "rocket",
  spacecraft: "rocket",
  coffee: "cup",
  tea: "cup",
  mug: "cup",
  novel: "book",
  cupcake: "cake",
  birthday: "cake",
  love: "heart",
  football: "ball",
  basketball: "ball",
  parasol: "umbrella",
  violin: "guitar",
  disc: "circle",
  sphere: "circle",
  cube: "square",
  pyramid: "triangle",
  gem: "diamond",
  jewel: "diamond",
  sparrow: "bird",
  eagle: "bird",
  seagull: "bird",
  parrot: "bird",
  owl: "bird",
  shark: "fish",
  goldfish: "fish",
  dolphin: "whale",
  katze: "cat",
  hund: "dog",
  haus: "house",
  baum: "tree",
  sonne: "sun",
  mond: "moon",
  blume: "flower",
  chat: "cat",
  chien: "dog",
  maison: "house",
  arbre: "tree",
  soleil: "sun",
  gato: "cat",
  perro: "dog",
  casa: "house",
};

const SCENES: readonly (readonly [Scenery, RegExp])[] = [
  ["space", /\b(space|galaxy|planets?|cosmos|universe|nebula|mars)\b/],
  ["sea", /\b(sea|ocean|beach|lake|river|waves?|coast|harbou?r|underwater|island|meer|mer)\b/],
  ["mountains", /\b(mountains?|alps?|peaks?|cliffs?|volcano)\b/],
  ["forest", /\b(forest|woods|jungle|wald)\b/],
  ["city", /\b(city|street|skyline|buildings?|town|skyscrapers?|stadt|downtown)\b/],
  ["desert", /\b(desert|dunes?|sahara|canyon)\b/],
  ["hills", /\b(hills?|fields?|meadows?|garden|park|landscape|valley|farm|village|countryside|outdoors?|sky)\b/],
  ["studio", /\b(studio|product|logo|icon|table|indoors?|room|portrait|still life)\b/],
  ["abstract", /\b(abstract|pattern|gradient|texture|wallpaper|shapes?)\b/],
];

const COUNTS: Readonly<Record<string, number>> = {
  two: 2,
  pair: 2,
  couple: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  eight: 8,
  nine: 9,
  ten: 10,
  several: 4,
  many: 6,
  some: 3,
};

/** What belongs on a table rather than in a landscape when it stands alone. */
const STILL = new Set([
  "apple",
  "cup",
  "book",
  "cake",
  "ball",
  "guitar",
  "circle",
  "square",
  "triangle",
  "diamond",
  "robot",
  "heart",
]);

export function readPrompt(prompt: string, negativePrompt = ""): Motif {
  const text = prompt.slice(0, MEDIA_LIMITS.promptCharactersMax).toLowerCase();
  const words = text.match(/\p{L}+|\d+/gu) ?? [];
  const unwanted = new Set(
    (
      negativePrompt
        .slice(0, MEDIA_LIMITS.promptCharactersMax)
        .toLowerCase()
        .match(/\p{L}+/gu) ?? []
    ).map((word) => thingOf(word) ?? word),
  );
  const wishes: Wish[] = [];
  const colours: Colour[] = [];
  let colour: Colour | null = null;
  let count: number | null = null;
  let sinceColour = 0;
  let left: number = MEDIA_LIMITS.objectsMax;
  for (const word of words) {
    const named = unwanted.has(word) ? undefined : Object.hasOwn(COLOURS, word) ? COLOURS[word] : undefined;
    const thing = thingOf(word);
    sinceColour += 1;
    if (named !== undefined && thing === undefined) {
      if (colour !== null) colours.push(colour);
      colour = named;
      sinceColour = 0;
    } else if (Object.hasOwn(COUNTS, word) || /^\d$/.test(word)) {
      count = COUNTS[word] ?? Number(word);
    } else if (thing !== undefined && !unwanted.has(thing)) {
      // "a red and white balloon": a colour reaches two words far.
      const own = sinceColour <= 3 ? colour : null;
      if (own === null && colour !== null) colours.push(colour);
      const isMany = word.endsWith("s") && word !== thing;
      const wanted = Math.min(left, count ?? (isMany ? 3 : 1));
      if (wanted > 0 && !wishes.some((wish) => wish.thing === thing && wish.colour === own)) {
        wishes.push({ thing, colour: own, count: wanted });
        left -= wanted;
      }
      colour = null;
      count = null;
    }
  }
  if (colour !== null) colours.push(colour);
  const allowed = text.replaceAll(/\p{L}+/gu, (word) => (unwanted.has(thingOf(word) ?? word) ? " " : word));
  return {
    wishes,
    colours,
    scenery: SCENES.find(([, pattern]) => pattern.test(allowed))?.[0] ?? defaultScenery(wishes),
    light: /\b(night|midnight|moonlit|moon|stars|dark|nacht)\b/.test(allowed)
      ? "night"
      : /\b(sunset|sunrise|dusk|dawn|evening|golden hour)\b/.test(allowed)
        ? "sunset"
        : "day",
    weather: /\b(snow|snowy|snowing|winter|blizzard)\b/.test(allowed)
      ? "snow"
      : /\b(rain|rainy|raining|storm|stormy)\b/.test(allowed)
        ? "rain"
        : "clear",
  };
}

function defaultScenery(wishes: readonly Wish[]): Scenery {
  if (wishes.length === 0) return "abstract";
  if (wishes.some(({ thing }) => THINGS[thing]?.where === "water")) return "sea";
  if (wishes.every(({ thing }) => STILL.has(thing))) return "studio";
  return wishes.some(({ thing }) => thing === "rocket") ? "space" : "hills";
}

function thingOf(word: string): string | undefined {
  const forms = [word, word.replace(/s$/, ""), word.replace(/es$/, ""), word.replace(/ies$/, "y")];
  for (const form of forms) {
    if (Object.hasOwn(THINGS, form)) return form;
    if (Object.hasOwn(SYNONYMS, form)) return SYNONYMS[form];
  }
  return undefined;
}
