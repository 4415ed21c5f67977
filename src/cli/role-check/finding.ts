/** Short ways to write down the result of a check. */
import type { ConfigSpec } from '../../kinds/cluster-auth-config/schema.ts';
import type { RoleSpec } from '../../kinds/cluster-auth-role/schema.ts';
import type { LoginCheck, LoginCheckName, LoginField } from '../../model/login-check.ts';

export function passed(name: LoginCheckName, message: string): LoginCheck {
  return { name, result: 'passed', message };
}

/** For what only the service or its cluster can tell. */
export function open(name: LoginCheckName, message: string): LoginCheck {
  return { name, result: 'open', message };
}

/** @param field what the fix is about, when a manifest can repair it */
export function failed(name: LoginCheckName, message: string, fix: string, field?: LoginField): LoginCheck {
  return { name, result: 'failed', message, fix, ...(field && { field }) };
}

export function ofRole(name: keyof RoleSpec & string): LoginField {
  return { of: 'role', name };
}

export function ofConfig(name: keyof ConfigSpec & string): LoginField {
  return { of: 'config', name };
}
