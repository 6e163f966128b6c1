/** Set by the build from package.json; images carry it in a label. */
declare const SLIPWAY_VERSION: string | undefined;

export const VERSION: string = typeof SLIPWAY_VERSION === 'string' ? SLIPWAY_VERSION : '0.0.0-dev';
