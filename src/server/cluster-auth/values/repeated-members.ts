/** Telling JSON that two readers could take for different things. */

/**
 * Whether an object in a JSON text, which was read as `value`, has a member twice: JSON.parse keeps the last of them, other
 * readers keep the first.
 */
export function repeatsMembers(text: string, value: unknown): boolean {
  const written = text.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1;
  return written !== countMembers(value);
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members: unknown[] = Object.values(value);
  return members.reduce<number>(
    (sum, member) => sum + countMembers(member),
    Array.isArray(value) ? 0 : members.length,
  );
}
