/**
 * Precompiled schemas, by their keys. In the source there are none, and each schema is compiled when it is needed. The build
 * puts all schemas of trueup here (scripts/compile-checks.ts), because compiling them would take most of the start-up time.
 */
import type { ValidateFunction } from 'ajv';

export const readyChecks: ReadonlyMap<string, ValidateFunction> = new Map();
