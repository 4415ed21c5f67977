/** The one rule that converts API names to manifest names and back: `execution-mode` and `token_max_ttl` ⇄ `executionMode`, `tokenMaxTtl`. */

export function camelCase(wireName: string): string {
  return wireName.replace(/[-_]([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function kebabCase(fieldName: string): string {
  return fieldName.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function snakeCase(fieldName: string): string {
  return fieldName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
