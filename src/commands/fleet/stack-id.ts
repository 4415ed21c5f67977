/** A stack of a fleet: its name alone is not unique. */
export interface StackId {
  /** name of the repository in fleet.yaml */
  readonly repository: string;
  /** of the stack file, from the root of the repository */
  readonly path: string;
}

/** The stack as text, for maps and for the keys of jobs. */
export function keyOf({ repository, path }: StackId): string {
  return JSON.stringify([repository, path]);
}
