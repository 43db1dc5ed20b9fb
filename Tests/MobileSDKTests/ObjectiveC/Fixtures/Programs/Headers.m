// Checks that the library's header says what the pages' do: the same values, the same selectors.
#import "Neolane_SDK.h"

#include <string.h>

extern const NSUInteger page1[6], page2[6];
static const NSUInteger ours[] = {
#include "Values.inc"
};

/// Each message that the pages send, with the types that they send.
void calls(Neolane_SDK *nl, id <Neolane_SDKDelegate> delegate);
void calls(Neolane_SDK *nl, id <Neolane_SDKDelegate> delegate) {
    [nl setDelegate:delegate];
    nl.delegate = [nl delegate];
    [delegate registerDeviceStatus:ACCRegisterDeviceStatusSuccess :@""];
    [nl registerDevice:@"" :@"" :[NSDictionary dictionary]];
    [nl track:[NSDictionary dictionary] :NL_TRACK_CLICK];
    [nl track:[NSDictionary dictionary] :NL_TRACK_RECEIVE];
}

int main(void) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    BOOL isEqual = memcmp(ours, page1, sizeof ours) == 0 && memcmp(ours, page2, sizeof ours) == 0 && ours[5] == 5;
    SEL selectors[] = {
        @selector(setMarketingHost:), @selector(setTrackingHost:), @selector(setIntegrationKey:), @selector(registerDevice:::),
        @selector(track::), @selector(delegate), @selector(setDelegate:),
    };
    for (size_t index = 0; index < sizeof selectors / sizeof *selectors; index++) {
        isEqual = isEqual && [Neolane_SDK instancesRespondToSelector:selectors[index]];
    }
    isEqual = isEqual && [Neolane_SDK respondsToSelector:@selector(getInstance)];
    puts(isEqual ? "equal" : "different");
    [pool release];
    return isEqual ? 0 : 1;
}
