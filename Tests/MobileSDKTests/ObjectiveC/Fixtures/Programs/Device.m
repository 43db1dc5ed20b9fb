// A device on the command line: does one step after the other, and prints each status that the delegate hears.
//
//   host=URL  tracking=URL  key=KEY        the settings
//   param=NAME=VALUE                       a parameter of the registrations that follow; VALUE may be true, false or a number
//   none                                   no parameters from here on: nil
//   register=TOKEN[,USER]                  registers, and waits for the next status
//   receive=MESSAGE,DELIVERY  click=…      tracks, and waits until nothing is kept any more
//   queue=MESSAGE,DELIVERY                 tracks a click that cannot be sent now
//   convert=NAME[,VALUE]                   records a conversion, and waits until nothing is kept any more
//   out  in                                setOptOut:
//   out=CATEGORY  in=CATEGORY              setOptOut:ofCategory:
//   await                                  waits for one more status
//   retry  forget  silence                 retryNow, forgetRegistration, a delegate without the optional method

#include <unistd.h>

#import <Foundation/Foundation.h>
#import "Neolane_SDK.h"

/// Longer than anything takes, as the machine may be busy.
static const NSTimeInterval limit = 30;

@interface Listener : NSObject <Neolane_SDKDelegate> {
@public
    NSUInteger heard;
}
@end

@implementation Listener

- (void)registerDeviceStatus:(ACCRegisterDeviceStatus)status :(NSString *)errorReason {
    heard++;
    printf("status %lu%s%s%s\n", (unsigned long)status, [NSThread isMainThread] ? "" : " in another thread",
           errorReason == nil ? "" : " ", errorReason == nil ? "" : [errorReason UTF8String]);
}

@end

/// Waits until the delegate has heard so much, or, for 0, until no hit is kept.
static void wait(Listener *listener, NSUInteger count) {
    NSString *support = [NSSearchPathForDirectoriesInDomains(NSApplicationSupportDirectory, NSUserDomainMask, YES)
        objectAtIndex:0];
    NSString *file = [support stringByAppendingPathComponent:@"Neolane_SDK/tracking.plist"];
    NSDate *end = [NSDate dateWithTimeIntervalSinceNow:limit];
    while ([end timeIntervalSinceNow] > 0) {
        if (count > 0 && listener->heard >= count) { return; }
        id paths = [[NSDictionary dictionaryWithContentsOfFile:file] objectForKey:@"paths"];
        if (count == 0 && paths != nil && [paths count] == 0) { return; }
        [[NSRunLoop currentRunLoop] runUntilDate:[NSDate dateWithTimeIntervalSinceNow:0.02]];
    }
    printf("nothing came within %.0f s\n", limit);
    exit(1);
}

static id value(NSString *text) {
    if ([text isEqualToString:@"true"]) { return [NSNumber numberWithBool:YES]; }
    if ([text isEqualToString:@"false"]) { return [NSNumber numberWithBool:NO]; }
    NSScanner *scanner = [NSScanner scannerWithString:text];
    int number;
    return [scanner scanInt:&number] && [scanner isAtEnd] ? (id)[NSNumber numberWithInt:number] : text;
}

int main(int count, char **arguments) {
    NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
    Neolane_SDK *nl = [Neolane_SDK getInstance];
    Listener *listener = [[Listener alloc] init];
    NSObject *silent = [[NSObject alloc] init];
    NSMutableDictionary *parameters = [NSMutableDictionary dictionary];
    NSUInteger expected = 0;
    int index;
    // A port keeps the main run loop from coming back at once.
    [[NSRunLoop currentRunLoop] addPort:[NSPort port] forMode:NSDefaultRunLoopMode];
    [nl setDelegate:listener];
    for (index = 1; index < count; index++) {
        NSString *step = [NSString stringWithUTF8String:arguments[index]];
        NSRange equals = [step rangeOfString:@"="];
        NSString *name = equals.length == 0 ? step : [step substringToIndex:equals.location];
        NSString *rest = equals.length == 0 ? @"" : [step substringFromIndex:NSMaxRange(equals)];
        NSArray *parts = [rest componentsSeparatedByString:[name isEqualToString:@"param"] ? @"=" : @","];
        NSString *second = [parts count] > 1 ? [parts objectAtIndex:1] : nil;
        if ([name isEqualToString:@"host"]) {
            [nl setMarketingHost:rest];
        } else if ([name isEqualToString:@"tracking"]) {
            [nl setTrackingHost:rest];
        } else if ([name isEqualToString:@"key"]) {
            [nl setIntegrationKey:rest];
        } else if ([name isEqualToString:@"param"]) {
            [parameters setObject:value(second) forKey:[parts objectAtIndex:0]];
        } else if ([name isEqualToString:@"register"]) {
            [nl registerDevice:[parts objectAtIndex:0] :second :[parameters count] > 0 ? parameters : nil];
            wait(listener, ++expected);
        } else if ([name isEqualToString:@"out"] || [name isEqualToString:@"in"]) {
            BOOL isOut = [name isEqualToString:@"out"];
            if ([rest length] == 0) {
                [nl setOptOut:isOut];
            } else {
                [nl setOptOut:isOut ofCategory:rest];
            }
        } else if ([name isEqualToString:@"none"]) {
            [parameters removeAllObjects];
        } else if ([name isEqualToString:@"await"]) {
            wait(listener, ++expected);
        } else if ([name isEqualToString:@"retry"]) {
            [nl retryNow];
        } else if ([name isEqualToString:@"forget"]) {
            [nl forgetRegistration];
        } else if ([name isEqualToString:@"convert"]) {
            NSNumber *amount = second == nil ? nil : [NSNumber numberWithDouble:[second doubleValue]];
            [nl recordConversion:[parts objectAtIndex:0] value:amount];
            [listener performSelector:@selector(class) onThread:[nl valueForKey:@"thread"] withObject:nil waitUntilDone:YES];
            wait(listener, 0);
        } else if ([name isEqualToString:@"silence"]) {
            // It may have the optional method, or not.
            [nl setDelegate:(id)silent];
        } else {
            NSDictionary *message = [NSDictionary dictionaryWithObjectsAndKeys:
                [parts objectAtIndex:0], @"_mId", second, @"_dId", nil];
            BOOL isReceipt = [name isEqualToString:@"receive"];
            [nl track:message :isReceipt ? NL_TRACK_RECEIVE : NL_TRACK_CLICK];
            // The library's thread does things in order: when this is done the hit is kept.
            [listener performSelector:@selector(class) onThread:[nl valueForKey:@"thread"] withObject:nil waitUntilDone:YES];
            if (![name isEqualToString:@"queue"]) { wait(listener, 0); }
        }
    }
    [nl setDelegate:nil];
    [pool release];
    // As an app ends: nothing is taken down under the library's thread.
    fflush(stdout);
    _exit(0);
}
