/** Edge that Aria's processor gives images, whatever the file of its image processor says. */
export const ARIA_EDGE = 980;
