/**
 * The compiled schema of seeds. In the source there is none, and the schema is compiled when it is needed. The build puts the
 * compiled one here (scripts/compile-checks.ts), because compiling it takes longer than starting the service.
 */
import type { ValidateFunction } from 'ajv';

export const compiledSeed: ValidateFunction | undefined = undefined;
