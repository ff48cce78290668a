/** Cache of results that are expensive to create and stay valid until the objects from which they were created are replaced. */

/** Caches a function of two objects. @returns a function that creates the result of each pair once, for as long as both objects exist */
export function rememberPairs<A extends object, B extends object, T>(
  make: (one: A, other: B) => T,
): (one: A, other: B) => T {
  const results = new WeakMap<A, WeakMap<B, { readonly answer: T }>>();
  return (one, other) => {
    const ofOne = results.get(one) ?? new WeakMap<B, { readonly answer: T }>();
    results.set(one, ofOne);
    const known = ofOne.get(other) ?? { answer: make(one, other) };
    ofOne.set(other, known);
    return known.answer;
  };
}
