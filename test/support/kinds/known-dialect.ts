// A dialect by its name, for tests that hand one to a kind.
import { findDialect } from '../../../src/api/dialects.ts';
import type { Dialect, Service } from '../../../src/model/stack.ts';

export function knownDialect(service: Service, name = 'neutral'): Dialect {
  const dialect = findDialect(service, name);
  if (dialect === undefined) throw new Error(`no dialect ${name} for ${service}`);
  return dialect;
}
