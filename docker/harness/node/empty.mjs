// Loaded for what Node keeps of a module, see doors.cjs.
export const isEmpty = true;
