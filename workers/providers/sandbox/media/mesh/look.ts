/** A thing's own colours and materials under those of the prompt. */
import type { Random } from "../../random.ts";
import { mix, type Colour } from "../images/colours.ts";
import { finishOf, type FinishName, type Skin } from "./finishes.ts";
import type { Motif, ThingWish } from "./prompt.ts";
import type { Noise } from "./textures/noise.ts";
import type { Look } from "./things/thing.ts";

/** What a statue is made of where the prompt does not say. */
const STATUE_FINISHES = ["marble", "bronze", "stone"] as const;

export function lookOf(
  wish: Pick<ThingWish, "colours" | "finish" | "contentColours">,
  motif: Motif,
  random: Random,
  noise: Noise,
): Look {
  const named = wish.finish ?? motif.finish;
  const [first, other] = (wish.colours.length > 0 ? wish.colours : motif.colours).map((colour) => colour ?? undefined);
  const statue = motif.isStatue ? (named ?? random.pick(STATUE_FINISHES)) : null;
  const finish = statue ?? named;
  const own = finish === null ? undefined : finishOf(finish).colour;

  function skin(colour: Colour, usual: FinishName, wanted: Colour | undefined, isMain: boolean): Skin {
    if (finish === null || (!isMain && statue === null)) return { finish: usual, colour: wanted ?? colour };
    // Glass and paint take the thing's colour, gold has its own; details of a statue are a shade apart.
    const base = wanted ?? own ?? (statue === null ? colour : (first ?? colour));
    const second = other !== undefined && finishOf(finish).second !== undefined ? other : undefined;
    return { finish, colour: isMain || own === undefined ? base : mix(base, "#0d1024", 0.08), second };
  }

  return {
    random,
    noise,
    finish,
    main: (colour, usual) => ({ ...skin(colour, usual, first, true), isMain: true }),
    second: (colour, usual) => skin(colour, usual, statue === null ? other : first, false),
    fixed: (colour, usual) => (statue === null ? { finish: usual, colour } : skin(colour, usual, first, false)),
    content: (colour, usual) => ({ finish: usual, colour: wish.contentColours[0] ?? colour }),
    has: (...words) => words.some((word) => motif.words.has(word)),
    roll: (min, max) => min + ((max - min) * random.below(1_000_003)) / 1_000_003,
  };
}
