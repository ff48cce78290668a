/** All things that can be made. */
import { AIRCRAFT } from "./aircraft.ts";
import { ARMS } from "./arms.ts";
import { FOUR_LEGGED } from "./beasts.ts";
import { BIRDS } from "./birds.ts";
import { BUILDINGS } from "./buildings.ts";
import { CAKES } from "./cakes.ts";
import { CREATURES } from "./creatures.ts";
import { FIGURES } from "./figures.ts";
import { FOOD } from "./food.ts";
import { FRUIT } from "./fruit.ts";
import { FURNITURE } from "./furniture.ts";
import { GADGETS } from "./gadgets.ts";
import { HEROES } from "./heroes.ts";
import { HOUSEHOLD } from "./household.ts";
import { JEWELS } from "./jewels.ts";
import { KEEPSAKES } from "./keepsakes.ts";
import { LANDMARKS } from "./landmarks.ts";
import { NATURE } from "./nature.ts";
import { PLANTS } from "./plants.ts";
import { RAILS_AND_WATER } from "./rails-and-water.ts";
import { SHAPES } from "./shapes.ts";
import { SPACECRAFT } from "./spacecraft.ts";
import { SPIRITS } from "./spirits.ts";
import { SWIMMERS } from "./swimmers.ts";
import { TABLEWARE } from "./tableware.ts";
import { TOWERS } from "./towers.ts";
import { TOYS } from "./toys.ts";
import { TREASURES } from "./treasures.ts";
import { TREES } from "./trees.ts";
import { VEHICLES } from "./vehicles.ts";
import { VESSELS } from "./vessels.ts";
import { WORLDS } from "./worlds.ts";
import type { Thing } from "./thing.ts";

export { ABSTRACT, plinth } from "./sculpture.ts";

export const THINGS: Readonly<Record<string, Thing>> = {
  ...TREES,
  ...PLANTS,
  ...FOUR_LEGGED,
  ...BIRDS,
  ...SWIMMERS,
  ...CREATURES,
  ...BUILDINGS,
  ...TOWERS,
  ...LANDMARKS,
  ...FURNITURE,
  ...HOUSEHOLD,
  ...VEHICLES,
  ...RAILS_AND_WATER,
  ...AIRCRAFT,
  ...SPACECRAFT,
  ...TABLEWARE,
  ...VESSELS,
  ...KEEPSAKES,
  ...FIGURES,
  ...HEROES,
  ...TOYS,
  ...SPIRITS,
  ...ARMS,
  ...JEWELS,
  ...TREASURES,
  ...FRUIT,
  ...CAKES,
  ...FOOD,
  ...NATURE,
  ...SHAPES,
  ...GADGETS,
  ...WORLDS,
};
