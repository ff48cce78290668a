/** How an animal on four legs is built: how long, how thick, which ears, which tail. */
import type { Colour } from "../../images/colours.ts";
import type { Lump } from "../kit/blob.ts";
import type { Vec3 } from "../kit/vector.ts";
import type { Coat } from "./coat.ts";
import type { Look, Part } from "./thing.ts";

export interface Beast {
  readonly metres: number;
  readonly colour: Colour;
  readonly belly?: Colour;
  readonly paws?: Colour;
  readonly finish?: "fur" | "skin" | "plush" | "scales";
  /** Of the trunk: half its length, its radius, its height above the ground. */
  readonly trunk: readonly [half: number, radius: number, height: number];
  readonly leg: readonly [radius: number, spread: number];
  /** Where the head is, seen from the shoulders: up and ahead; and its radius. */
  readonly head: readonly [up: number, ahead: number, radius: number];
  readonly neck: number;
  /** How far the muzzle reaches ahead, its radius, and how far it sinks. */
  readonly muzzle: readonly [reach: number, radius: number, drop: number];
  readonly ears: "pointed" | "floppy" | "round" | "long" | "fan" | "none";
  /** From the rump: up and back by turns; its radius at the root and at the end. */
  readonly tail: readonly Vec3[];
  readonly tailRadius: readonly [number, number];
  readonly tailTip?: Colour;
  readonly nose: Colour;
  /** A flat disc with two nostrils instead of a nose. */
  readonly snout?: boolean;
  /** Of the head, where it is not that of the body. */
  readonly face?: Colour;
  readonly eye?: Colour;
  readonly marks?: (look: Look, point: Vec3) => number;
  readonly more?: (
    look: Look,
    coat: Coat,
    head: Vec3,
    radius: number,
  ) => { readonly lumps?: readonly Lump[]; readonly parts?: readonly Part[] };
}
