// Runs an app whose delegate is made of the pages' samples: it starts, registers, and gets a notification.
//
//   SampleApp HOST KEY TOKEN USER [MESSAGE DELIVERY]
//
// Prints the status of the registration and what the completion handler was told.

#include <unistd.h>

#import "AppDelegate.h"

/// Longer than anything takes, as the machine may be busy.
static const NSTimeInterval limit = 30;

/// What the registration's sample uses and the pages do not show.
NSString *tokenString;
NSDictionary *dic;

/// The samples' delegate, whose status is also seen here.
@interface SeenDelegate : AppDelegate {
@public
    BOOL hasStatus;
}
@end

@implementation SeenDelegate
- (void)registerDeviceStatus:(ACCRegisterDeviceStatus)status :(NSString *)errorReason {
    hasStatus = YES;
    printf("status %lu\n", (unsigned long)status);
    // What the sample does with it.
    [super registerDeviceStatus:status :errorReason];
}
@end

static void sleepShortly(void) {
    [[NSRunLoop currentRunLoop] runUntilDate:[NSDate dateWithTimeIntervalSinceNow:0.02]];
}

int main(int count, char **arguments) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    NSMutableArray *words = [NSMutableArray array];
    for (int index = 1; index < count; index++) { [words addObject:[NSString stringWithUTF8String:arguments[index]]]; }
    if ([words count] != 4 && [words count] != 6) { return 64; }
    [[NSRunLoop currentRunLoop] addPort:[NSPort port] forMode:NSDefaultRunLoopMode];
    // The names under which the sample looks its settings up.
    NSArray *names = [NSArray arrayWithObjects:@"mktHost", @"tckHost", @"integrationKey", @"userKey", nil];
    NSArray *values = [NSArray arrayWithObjects:
        [words objectAtIndex:0], [words objectAtIndex:0], [words objectAtIndex:1], [words objectAtIndex:3], nil];
    [[NSUserDefaults standardUserDefaults] registerDefaults:[NSDictionary dictionaryWithObjects:values forKeys:names]];
    tokenString = [words objectAtIndex:2];
    dic = [[NSDictionary alloc] initWithObjectsAndKeys:@"Ada", @"firstName", [NSNumber numberWithInt:3233], @"points", nil];

    UIApplication *application = [[UIApplication alloc] init];
    SeenDelegate *delegate = [[SeenDelegate alloc] init];
    [delegate application:application didFinishLaunchingWithOptions:nil];
    [delegate application:application didRegisterForRemoteNotificationsWithDeviceToken:[NSData data]];
    NSDate *end = [NSDate dateWithTimeIntervalSinceNow:limit];
    while (!delegate->hasStatus && [end timeIntervalSinceNow] > 0) { sleepShortly(); }

    if ([words count] == 6) {
        NSDictionary *aps = [NSDictionary dictionaryWithObject:[NSNumber numberWithInt:1] forKey:@"content-available"];
        NSDictionary *message = [NSDictionary dictionaryWithObjectsAndKeys:
            aps, @"aps", [words objectAtIndex:4], @"_mId", [words objectAtIndex:5], @"_dId", nil];
        [delegate application:application
            didReceiveRemoteNotification:message
                  fetchCompletionHandler:^(UIBackgroundFetchResult result) {
                      printf("completed %lu\n", (unsigned long)result);
                  }];
        // Until the hit is kept no more, as in Device.m.
        NSString *file = [[NSSearchPathForDirectoriesInDomains(NSApplicationSupportDirectory, NSUserDomainMask, YES)
            objectAtIndex:0] stringByAppendingPathComponent:@"Neolane_SDK/tracking.plist"];
        id paths = nil;
        do {
            sleepShortly();
            paths = [[NSDictionary dictionaryWithContentsOfFile:file] objectForKey:@"paths"];
        } while ((paths == nil || [paths count] > 0) && [end timeIntervalSinceNow] > 0);
        printf("%s\n", paths != nil && [paths count] == 0 ? "tracked" : "not tracked");
    }
    [[Neolane_SDK getInstance] setDelegate:nil];
    [pool release];
    // As an app ends: nothing is taken down under the library's thread.
    fflush(stdout);
    _exit(0);
}
