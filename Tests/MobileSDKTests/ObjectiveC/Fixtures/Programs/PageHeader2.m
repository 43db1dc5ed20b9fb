// The header as a page shows it.
#import "header-2.m"

const NSUInteger page2[] = {
#include "Values.inc"
};
