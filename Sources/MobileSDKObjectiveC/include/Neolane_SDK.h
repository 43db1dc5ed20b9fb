#import <Foundation/Foundation.h>

// Only clang has these. The library also compiles with GCC, whose Objective-C has no weak references.
#if defined(__clang__)
#define NEOLANE_WEAK weak
#define NEOLANE_NULLABLE _Nullable
#define NEOLANE_NONNULL _Nonnull
#else
#define NEOLANE_WEAK assign
#define NEOLANE_NULLABLE
#define NEOLANE_NONNULL
#endif

/// The outcome of a registration.
typedef NS_ENUM(NSUInteger, ACCRegisterDeviceStatus) {
    /// The server has stored the registration, or already had it.
    ACCRegisterDeviceStatusSuccess,
    /// No valid marketing host is set.
    ACCRegisterDeviceStatusFailureMarketingServerHostnameEmpty,
    /// No integration key is set.
    ACCRegisterDeviceStatusFailureIntegrationKeyEmpty,
    /// The server could not be reached; `errorReason` says why. The registration is queued and sent again.
    ACCRegisterDeviceStatusFailureConnectionIssue,
    /// The server has no application with this integration key.
    ACCRegisterDeviceStatusFailureUnknownUUID,
    /// The server refused for the reason `errorReason`. If it is only busy or broken, the registration is queued and
    /// sent again.
    ACCRegisterDeviceStatusFailureUnexpectedError
};

/// What happened to a notification on the device; the last part of the tracking URL.
typedef NS_ENUM(NSInteger, NLTrackAction) {
    /// It arrived: for silent notifications, and for those that a service extension handles.
    NL_TRACK_RECEIVE = 1,
    /// The user clicked or opened it.
    NL_TRACK_CLICK = 2
};

/// Gets the outcomes of registrations.
@protocol Neolane_SDKDelegate <NSObject>
@optional
/// Called on the main thread, once for each call of `registerDevice`, and once more when a queued registration has
/// succeeded or was refused. The reason is nil for a status without details.
- (void)registerDeviceStatus:(ACCRegisterDeviceStatus)status :(NSString * NEOLANE_NULLABLE)errorReason;
@end

@class NLSRegistrar, NLSTracker;

/// Registers a device with PushMTA and reports what happens to notifications, with the names of Adobe's Campaign SDK.
///
/// Calls may come from any thread and return at once; a thread of the library handles them in order.
@interface Neolane_SDK : NSObject {
@private
    NSThread *_thread;
    NLSRegistrar *_registrar;
    NLSTracker *_tracker;
    id _delegate;
    BOOL _sendsTimeZone;
}

/// The delegate that gets the outcomes of registrations; not retained. If the Objective-C runtime has no weak
/// references (GNUstep with GCC's), set it to nil before the delegate is deallocated.
@property (nonatomic, NEOLANE_WEAK) id <Neolane_SDKDelegate> NEOLANE_NULLABLE delegate;

/// The app's instance.
+ (Neolane_SDK * NEOLANE_NONNULL)getInstance;

/// Sets the server for registrations: `https://host:port/`, or `host[:port][/path]` for https.
- (void)setMarketingHost:(NSString * NEOLANE_NULLABLE)host;

/// Sets the server for tracking hits, in the same form.
- (void)setTrackingHost:(NSString * NEOLANE_NULLABLE)host;

/// Sets the key that names the application to the server.
- (void)setIntegrationKey:(NSString * NEOLANE_NULLABLE)key;

/// Sends the device's time zone with later registrations, so that messages can arrive at the user's own time of day. By
/// default it is not sent: a time zone tells where a person is, so it is personal data. Say so in the app's privacy
/// notice. A device that moves to another zone tells the server with its next `registerDevice`.
- (void)setSendsTimeZone:(BOOL)sends;

/// Registers the device. Call it at each start and for each new token: a request is sent only if token, user key, parameters,
/// server or integration key changed.
///
/// The token is hexadecimal text; brackets and blanks, as in the old `description` of NSData, are removed. The user key
/// links the device to a recipient. Parameters are texts and numbers; other values are not sent. With nil, or with
/// `userKeyProof` alone, the same user keeps the parameters of the last call; an empty dictionary removes them.
- (void)registerDevice:(NSString * NEOLANE_NONNULL)tokenString
                      :(NSString * NEOLANE_NULLABLE)userKey
                      :(NSDictionary * NEOLANE_NULLABLE)parameters;

/// Records that the user wants no messages (YES), or wants them again (NO). The choice is kept on the device and sent
/// with the registration of that user key, at once if there is one. The delegate gets the outcome. An opt-out also
/// applies to tokens that the app gets later.
- (void)setOptOut:(BOOL)optedOut;

/// Records that the user wants no messages of a category (YES), or wants them again (NO). It is kept and sent like
/// `setOptOut:`, and independent of it: a user who opted out of everything gets no category. The server's operator says
/// which categories there are, such as `marketing` and `news`.
- (void)setOptOut:(BOOL)optedOut ofCategory:(NSString * NEOLANE_NONNULL)category;

/// Reports to the server what happened to a notification, given by its `userInfo` or the launch options that contain
/// it.
- (void)track:(NSDictionary * NEOLANE_NULLABLE)launchOptions :(NLTrackAction)action;

/// Records that the user did what a notification was sent for, such as a purchase: a name of 1 to 100 bytes, and a number such
/// as the amount of an order, or nil. It counts for the last notification that `track::` reported as clicked, by this
/// process or an earlier one. The server counts the first conversion of a name for each notification.
- (void)recordConversion:(NSString * NEOLANE_NONNULL)name value:(NSNumber * NEOLANE_NULLABLE)value;

/// Sends queued requests at once, except hits for which the server asked for more time. Call it when the app enters the
/// foreground.
- (void)retryNow;

/// Forgets the registration, so that the next `registerDevice` sends everything again. Call it when a user signs out;
/// choices made with `setOptOut:` are kept.
- (void)forgetRegistration;

@end
