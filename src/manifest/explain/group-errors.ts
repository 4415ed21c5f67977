/**
 * Reduces a schema's errors to those that help. For alternatives (`anyOf`, `oneOf`) a validator reports why every branch
 * failed; a user needs the one branch that was meant, or one error about all. Never drops the last error of a value.
 */
import type { SchemaError } from '../schema/compile-schema.ts';

/** The errors to report; when the value fits no branch of alternatives, they stay one error of their keyword. */
export function groupErrors(errors: readonly SchemaError[]): SchemaError[] {
  const outermost = errors
    .filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
    .sort((one, other) => one.schemaPath.length - other.schemaPath.length)[0];
  if (outermost === undefined) return errors.filter(({ keyword }) => !summaries.has(keyword));
  const inside = errors.filter((error) => isInside(error, outermost));
  const others = errors.filter((error) => error !== outermost && !inside.includes(error));
  return [...groupErrors(others), ...meantBranch(outermost, inside)];
}

/** Keywords whose errors only say that there are other errors. */
const summaries = new Set(['if', 'propertyNames']);

function isInside(error: SchemaError, alternatives: SchemaError): boolean {
  return (
    error.schemaPath.startsWith(`${alternatives.schemaPath}/`) &&
    error.instancePath.startsWith(alternatives.instancePath)
  );
}

function meantBranch(alternatives: SchemaError, inside: readonly SchemaError[]): SchemaError[] {
  const branches = new Map<string, SchemaError[]>();
  for (const error of inside) {
    const number = error.schemaPath.slice(alternatives.schemaPath.length + 1).split('/', 1)[0] ?? '';
    branches.set(number, [...(branches.get(number) ?? []), error]);
  }
  const fitting = [...branches.values()].filter(
    (branch) => !branch.some((error) => isMisfit(error, alternatives)),
  );
  const best = fitting.sort((one, other) => one.length - other.length)[0];
  return best === undefined ? [alternatives] : groupErrors(best);
}

/** Whether an error shows that the branch is for another type of value. */
function isMisfit({ keyword, instancePath }: SchemaError, alternatives: SchemaError): boolean {
  return instancePath === alternatives.instancePath && ['type', 'const', 'enum'].includes(keyword);
}
