// The header as a page shows it.
#import "header-1.m"

const NSUInteger page1[] = {
#include "Values.inc"
};
