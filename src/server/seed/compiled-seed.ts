/**
 * The compiled schema of seeds. In the source it is undefined, and the schema is compiled when it is needed. The build replaces this
 * file by the compiled schema (scripts/compile-checks.ts), because compiling takes longer than starting the service.
 */
import type { ValidateFunction } from 'ajv';

export const compiledSeed: ValidateFunction | undefined = undefined;
