/** All things that can be made. */
import { FOUR_LEGGED } from "./beasts.ts";
import { BUILDINGS } from "./buildings.ts";
import { CREATURES } from "./creatures.ts";
import { FIGURES } from "./figures.ts";
import { FOOD } from "./food.ts";
import { FURNITURE } from "./furniture.ts";
import { NATURE } from "./nature.ts";
import { PLANTS } from "./plants.ts";
import { SHAPES } from "./shapes.ts";
import type { Thing } from "./thing.ts";
import { TREASURES } from "./treasures.ts";
import { VEHICLES } from "./vehicles.ts";
import { VESSELS } from "./vessels.ts";
import { WORLDS } from "./worlds.ts";

export { ABSTRACT, plinth } from "./sculpture.ts";

export const THINGS: Readonly<Record<string, Thing>> = {
  ...PLANTS,
  ...FOUR_LEGGED,
  ...CREATURES,
  ...BUILDINGS,
  ...FURNITURE,
  ...VEHICLES,
  ...VESSELS,
  ...FIGURES,
  ...TREASURES,
  ...FOOD,
  ...NATURE,
  ...SHAPES,
  ...WORLDS,
};
