/**
 * Schemas that are compiled already, by their keys. In the source there are none, and each schema is compiled when it
 * is needed. The build puts all of trueup's own here (scripts/compile-checks.ts): compiling them takes longer than
 * everything else that a start does.
 */
import type { ValidateFunction } from 'ajv';

export const readyChecks: ReadonlyMap<string, ValidateFunction> = new Map();
