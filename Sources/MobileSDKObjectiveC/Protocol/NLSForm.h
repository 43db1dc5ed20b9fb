#import <Foundation/Foundation.h>

/// The keys of a registration; the device is described under the names of the form's fields.
extern NSString *const NLSToken;
extern NSString *const NLSUserKey;
extern NSString *const NLSParameters;
/// The user's opt-out choice: `true`, `false`, or absent for no choice.
extern NSString *const NLSOptOut;
/// The time zone; absent if it is not sent.
extern NSString *const NLSTimeZone;
/// The categories that the user does not want, and wants again: names with commas between them, or absent for none.
extern NSString *const NLSCategoriesOut;
extern NSString *const NLSCategoriesIn;

/// Formats requests like Adobe's iOS SDK.
@interface NLSForm : NSObject

/// The address of a server as an app gives it, without a slash at its end; nil if the text is not a valid address.
+ (NSString *)base:(NSString *)host;

/// The token in the form in which it is sent: without brackets and blanks, in lower case.
+ (NSString *)token:(NSString *)text;

/// The description of the device in a registration. Without UIKit, which is not linked, it describes the computer.
+ (NSDictionary *)device;

/// The document of the subscription parameters.
+ (NSString *)parametersXML:(NSDictionary *)parameters;

/// The new document, completed with the stored parameters if the app passed none (nil, or a document with only the
/// proof of the user key).
+ (NSString *)parametersXML:(NSString *)said kept:(NSString *)kept;

/// The body of a registration.
+ (NSString *)body:(NSDictionary *)registration integrationKey:(NSString *)key;

/// `/r/?id=h<broad log>,<delivery>,<tag>`; nil if the notification has no ids that can be tracked.
+ (NSString *)trackingPath:(NSDictionary *)userInfo action:(NSInteger)action;

/// What the path of a click has before its tag; nil for another path.
+ (NSString *)opened:(NSString *)path;

/// The end of the path that reports a conversion of an opened notification; nil as the value for none.
+ (NSString *)conversion:(NSString *)name value:(NSNumber *)value;

/// Percent-encodes every UTF-8 byte except the unreserved ones (RFC 3986, section 2.3) and those in `kept`.
+ (NSString *)encode:(NSString *)text keeping:(const char *)kept;

@end
