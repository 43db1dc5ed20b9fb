// MobileSDKObjectiveC: the calls of Adobe's Campaign SDK for iOS (Neolane), for apps that use it.
//
// WHAT IT DOES
//   Registers a device and reports receipts and clicks, under the names and selectors of the old SDK. An app links this
//   library instead and keeps its code. The wire format and the retry rules are those of MobileSDK, which is in Swift.
//
// HOW IT IS USED
//   An app links libNeolaneSDK.a and imports Neolane_SDK.h, or links NeolaneSDK.xcframework (build-xcframework). At
//   each start it sets the hosts and the integration key on [Neolane_SDK getInstance]. It calls registerDevice::: for
//   each token and track:: for notifications. NLSRegistrar and NLSTracker decide, NLSExchange sends, and NLSFile
//   stores.
//
// THREADS AND TASKS
//   One thread of the library, with a run loop, handles all calls; only it uses the registrar and the tracker. At most
//   one registration and one hit are in progress at a time. The delegate is called on the main thread. Callers never
//   block, except in the first call of getInstance, which waits for the thread to start.
//
// STATE AND FILES
//   registration.plist and tracking.plist in the folder Neolane_SDK of the app's support folder. Each file is written
//   as a whole before its request is sent. Only one process at a time may use a folder, so an app and each of its
//   extensions have their own.
//
// FAILURES
//   If the server is unreachable, busy or broken (3xx, 408, 425, 429, 5xx), the request is retried after 5 s, doubling
//   to an hour, with jitter. Retry-After is honoured up to a day. Any other refusal is final. A hit is given up after
//   10 failed answers. Unreadable files count as empty; data that cannot be written stays in memory. Redirects are not
//   followed. No input from outside raises an exception.
//
// MEMORY
//   Retain and release by hand, because GCC's runtime, which the tests use, has no automatic reference counting. An app
//   with ARC links the library unchanged. To compile the sources with clang, pass -fno-objc-arc.
//
// SETTINGS
//   None. The app calls setMarketingHost:, setTrackingHost: and setIntegrationKey:.
//
// SEE ALSO
//   include/Neolane_SDK.h, Protocol/NLSRegistrar.m, Protocol/NLSTracker.m, InputOutput/NLSExchange.m, Config/sdk.md

#import "Neolane_SDK.h"

#import "InputOutput/NLSFile.h"
#import "Protocol/NLSForm.h"
#import "Protocol/NLSRegistrar.h"
#import "Protocol/NLSTracker.h"

#if defined(__clang__) && __has_feature(objc_arc)
#error "Neolane_SDK retains and releases by hand: compile it with -fno-objc-arc"
#endif

#if defined(__APPLE__)
#import <objc/runtime.h>
#endif

@interface Neolane_SDK (Thread) <NLSRegistrarOwner>
- (id)initWithFolder:(NSString *)folder;
- (void)work:(NSConditionLock *)lock;
- (void)tell:(NSArray *)ending;
@end

@implementation Neolane_SDK

+ (Neolane_SDK *)getInstance {
    static Neolane_SDK *shared = nil;
    @synchronized([Neolane_SDK class]) {
        if (shared == nil) { shared = [[Neolane_SDK alloc] initWithFolder:[NLSFile supportFolder]]; }
    }
    return shared;
}

- (id)init {
    // Two objects must not share a folder, and the shared one uses the app's.
    [self release];
    return [[Neolane_SDK getInstance] retain];
}

/// Calls a method of the registrar or tracker on the library's thread. The argument is retained until then.
- (void)ask:(id)object :(SEL)method :(id)argument {
    [object performSelector:method onThread:_thread withObject:argument waitUntilDone:NO];
}

- (void)setMarketingHost:(NSString *)host {
    [self ask:_registrar :@selector(setHost:) :[[host copy] autorelease]];
}

- (void)setTrackingHost:(NSString *)host {
    [self ask:_tracker :@selector(setHost:) :[[host copy] autorelease]];
}

- (void)setIntegrationKey:(NSString *)key {
    [self ask:_registrar :@selector(setIntegrationKey:) :[[key copy] autorelease]];
}

- (void)registerDevice:(NSString *)tokenString :(NSString *)userKey :(NSDictionary *)parameters {
    NSMutableDictionary *registration = [NSMutableDictionary dictionaryWithDictionary:[NLSForm device]];
    [registration setObject:[NLSForm token:tokenString] forKey:NLSToken];
    [registration setObject:(userKey == nil ? @"" : [[userKey copy] autorelease]) forKey:NLSUserKey];
    if (parameters != nil) { [registration setObject:[NLSForm parametersXML:parameters] forKey:NLSParameters]; }
    NSString *zone = [[NSTimeZone localTimeZone] name];
    @synchronized(self) {
        if (_sendsTimeZone && [zone length] > 0) { [registration setObject:[[zone copy] autorelease] forKey:NLSTimeZone]; }
    }
    [self ask:_registrar :@selector(registerDevice:) :registration];
}

- (void)setSendsTimeZone:(BOOL)sends {
    @synchronized(self) { _sendsTimeZone = sends; }
}

- (void)setOptOut:(BOOL)optedOut {
    [self ask:_registrar :@selector(setOptOut:) :(optedOut ? @"true" : @"false")];
}

- (void)setOptOut:(BOOL)optedOut ofCategory:(NSString *)category {
    if ([category length] == 0) { return; }
    NSDictionary *words = [NSDictionary dictionaryWithObject:(optedOut ? @"true" : @"false") forKey:[[category copy] autorelease]];
    [self ask:_registrar :@selector(setCategories:) :words];
}

- (void)track:(NSDictionary *)launchOptions :(NLTrackAction)action {
    NSString *path = [NLSForm trackingPath:launchOptions action:action];
    // The notification is not from PushMTA: there is nothing to track.
    if (path != nil) { [self ask:_tracker :@selector(track:) :path]; }
}

- (void)recordConversion:(NSString *)name value:(NSNumber *)value {
    if ([name length] == 0) { return; }
    [self ask:_tracker :@selector(convert:) :[NLSForm conversion:name value:value]];
}

- (void)retryNow {
    [self ask:_registrar :@selector(retryNow) :nil];
    [self ask:_tracker :@selector(retryNow) :nil];
}

- (void)forgetRegistration {
    [self ask:_registrar :@selector(forget) :nil];
}

#if defined(__APPLE__)
// Written by hand, as clang synthesizes weak properties only with -fobjc-weak.
- (id <Neolane_SDKDelegate>)delegate {
    @synchronized(self) { return objc_loadWeak(&_delegate); }
}

- (void)setDelegate:(id <Neolane_SDKDelegate>)delegate {
    @synchronized(self) { objc_storeWeak(&_delegate, delegate); }
}
#else
- (id <Neolane_SDKDelegate>)delegate {
    @synchronized(self) { return [[_delegate retain] autorelease]; }
    return nil;
}

- (void)setDelegate:(id <Neolane_SDKDelegate>)delegate {
    @synchronized(self) { _delegate = delegate; }
}
#endif

@end

@implementation Neolane_SDK (Thread)

- (id)initWithFolder:(NSString *)folder {
    self = [super init];
    if (self == nil) { return nil; }
    _registrar = [[NLSRegistrar alloc] initWithFile:[NLSFile named:@"registration.plist" in:folder] owner:self];
    _tracker = [[NLSTracker alloc] initWithFile:[NLSFile named:@"tracking.plist" in:folder]];
    NSConditionLock *lock = [[[NSConditionLock alloc] initWithCondition:0] autorelease];
    _thread = [[NSThread alloc] initWithTarget:self selector:@selector(work:) object:lock];
    [_thread start];
    // A selector can be performed only on a running thread.
    [lock lockWhenCondition:1];
    [lock unlock];
    return self;
}

/// The body of the thread, which runs as long as the process.
- (void)work:(NSConditionLock *)lock {
    NSAutoreleasePool *outer = [[NSAutoreleasePool alloc] init];
    NSRunLoop *loop = [NSRunLoop currentRunLoop];
    // A run loop without a source would return at once, again and again.
    [loop addPort:[NSPort port] forMode:NSDefaultRunLoopMode];
    [lock lock];
    [lock unlockWithCondition:1];
    while (YES) {
        NSAutoreleasePool *pool = [[NSAutoreleasePool alloc] init];
        [loop runMode:NSDefaultRunLoopMode beforeDate:[NSDate distantFuture]];
        [pool release];
    }
    [outer release];
}

- (void)registrationEnded:(ACCRegisterDeviceStatus)status reason:(NSString *)reason {
    NSNumber *number = [NSNumber numberWithUnsignedInteger:status];
    [self performSelectorOnMainThread:@selector(tell:)
                           withObject:[NSArray arrayWithObjects:number, reason, nil]
                        waitUntilDone:NO];
}

- (void)tell:(NSArray *)ending {
    id <Neolane_SDKDelegate> delegate = [self delegate];
    if (![delegate respondsToSelector:@selector(registerDeviceStatus::)]) { return; }
    NSUInteger status = [[ending objectAtIndex:0] unsignedIntegerValue];
    [delegate registerDeviceStatus:(ACCRegisterDeviceStatus)status :([ending count] > 1 ? [ending objectAtIndex:1] : nil)];
}

@end
