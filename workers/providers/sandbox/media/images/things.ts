/** What the sandbox can draw, by its English name. */
import type { Thing } from "./thing.ts";
import { IN_AIR } from "./things/air.ts";
import { BEASTS } from "./things/beasts.ts";
import { BELONGINGS } from "./things/belongings.ts";
import { BUILDINGS } from "./things/buildings.ts";
import { FABLED } from "./things/fabled.ts";
import { FARM_ANIMALS } from "./things/farm-animals.ts";
import { FIGURES } from "./things/figures.ts";
import { FOOD } from "./things/food.ts";
import { FOREST_ANIMALS } from "./things/forest-animals.ts";
import { FRUIT } from "./things/fruit.ts";
import { HOME } from "./things/home.ts";
import { NATURE } from "./things/nature.ts";
import { PETS } from "./things/pets.ts";
import { SHAPES } from "./things/shapes.ts";
import { SWIMMERS } from "./things/swimmers.ts";
import { VEHICLES } from "./things/vehicles.ts";

export const THINGS: Readonly<Record<string, Thing>> = {
  ...IN_AIR,
  ...NATURE,
  ...BUILDINGS,
  ...PETS,
  ...FOREST_ANIMALS,
  ...FARM_ANIMALS,
  ...BEASTS,
  ...FABLED,
  ...FIGURES,
  ...VEHICLES,
  ...SWIMMERS,
  ...FRUIT,
  ...FOOD,
  ...HOME,
  ...BELONGINGS,
  ...SHAPES,
};
