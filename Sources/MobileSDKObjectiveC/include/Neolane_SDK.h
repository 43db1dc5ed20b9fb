#import <Foundation/Foundation.h>

// What only clang knows. The library also compiles with GCC, whose Objective-C has no weak references.
#if defined(__clang__)
#define NEOLANE_WEAK weak
#define NEOLANE_NULLABLE _Nullable
#define NEOLANE_NONNULL _Nonnull
#else
#define NEOLANE_WEAK assign
#define NEOLANE_NULLABLE
#define NEOLANE_NONNULL
#endif

/// How a registration ended.
typedef NS_ENUM(NSUInteger, ACCRegisterDeviceStatus) {
    /// The server has stored the registration, or has it already in this form.
    ACCRegisterDeviceStatusSuccess,
    /// No marketing host is set, or one that names no server.
    ACCRegisterDeviceStatusFailureMarketingServerHostnameEmpty,
    /// No integration key is set.
    ACCRegisterDeviceStatusFailureIntegrationKeyEmpty,
    /// The server could not be reached; `errorReason` says why. The registration is kept, and sent again.
    ACCRegisterDeviceStatusFailureConnectionIssue,
    /// The server has no application with this integration key.
    ACCRegisterDeviceStatusFailureUnknownUUID,
    /// The server refused and said `errorReason`. If it is only busy or broken, the registration is kept, and sent again.
    ACCRegisterDeviceStatusFailureUnexpectedError
};

/// What happened to a notification on the device; the last part of the tracking address.
typedef NS_ENUM(NSInteger, NLTrackAction) {
    /// It arrived: for silent notifications, and for those that a service extension handles.
    NL_TRACK_RECEIVE = 1,
    /// Somebody clicked it or opened it.
    NL_TRACK_CLICK = 2
};

/// Hears how registrations end.
@protocol Neolane_SDKDelegate <NSObject>
@optional
/// Called in the main thread, once for each call of `registerDevice`, and once more when a registration that was kept has got
/// through or was refused. The reason is nil for a status that says all by itself.
- (void)registerDeviceStatus:(ACCRegisterDeviceStatus)status :(NSString * NEOLANE_NULLABLE)errorReason;
@end

@class NLSRegistrar, NLSTracker;

/// Registers a device with PushMTA, and tells it what becomes of notifications, with the names of Adobe's Campaign SDK.
///
/// Calls return at once, from any thread; a thread of the library works them off in their order.
@interface Neolane_SDK : NSObject {
@private
    NSThread *_thread;
    NLSRegistrar *_registrar;
    NLSTracker *_tracker;
    id _delegate;
}

/// Who hears how registrations end; it is not kept alive. Where the Objective-C runtime has no weak references (GNUstep with
/// GCC's), set it to nil before the delegate goes.
@property (nonatomic, NEOLANE_WEAK) id <Neolane_SDKDelegate> NEOLANE_NULLABLE delegate;

/// The one of the app.
+ (Neolane_SDK * NEOLANE_NONNULL)getInstance;

/// Sets the server that takes registrations: `https://host:port/`, or `host[:port][/path]` for https.
- (void)setMarketingHost:(NSString * NEOLANE_NULLABLE)host;

/// Sets the server that takes tracking hits, in the same form.
- (void)setTrackingHost:(NSString * NEOLANE_NULLABLE)host;

/// Sets the key that names the application to the server.
- (void)setIntegrationKey:(NSString * NEOLANE_NULLABLE)key;

/// Registers the device. Call it at each start and for each new token: a request is sent only if token, user key, parameters,
/// server or integration key changed.
///
/// The token is text in hexadecimal; brackets and blanks, as `description` of NSData once had them, are taken away. The user key
/// matches the device to a recipient. Parameters are texts and numbers; other values are not sent. With nil, or with
/// `userKeyProof` alone, the same user keeps those of the last call; with an empty dictionary there are none.
- (void)registerDevice:(NSString * NEOLANE_NONNULL)tokenString
                      :(NSString * NEOLANE_NULLABLE)userKey
                      :(NSDictionary * NEOLANE_NULLABLE)parameters;

/// Says that the person who uses the app wants no messages (YES), or wants them again (NO). It is kept on the device and goes to the
/// server with the registration of that user key, at once if there is one; the delegate hears how that ends. A person who wants none
/// stays so with each token that the app has later.
- (void)setOptOut:(BOOL)optedOut;

/// Tells the server what happened to a notification: its `userInfo`, or the launch options that carry one.
- (void)track:(NSDictionary * NEOLANE_NULLABLE)launchOptions :(NLTrackAction)action;

/// Tries at once to send what is kept, but for hits whose server asked for more time. Call it when the app comes to the
/// foreground.
- (void)retryNow;

/// Forgets what was registered, so that the next `registerDevice` sends everything again. Call it when somebody signs out; what
/// persons said with `setOptOut:` stays.
- (void)forgetRegistration;

@end
