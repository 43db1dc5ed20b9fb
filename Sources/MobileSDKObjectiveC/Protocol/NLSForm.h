#import <Foundation/Foundation.h>

/// The entries of a registration; what describes the device is under the names of the form's fields.
extern NSString *const NLSToken;
extern NSString *const NLSUserKey;
extern NSString *const NLSParameters;
/// What the person says of an opt-out: `true` or `false`, or it is not there.
extern NSString *const NLSOptOut;

/// What is sent, in the form of Adobe's iOS SDK.
@interface NLSForm : NSObject

/// The address of a server as an app names it, without a slash at its end; nil when the text names no server.
+ (NSString *)base:(NSString *)host;

/// The token as it is sent: without brackets and blanks, in lower case.
+ (NSString *)token:(NSString *)text;

/// What a registration says about the device. Without UIKit, which is not linked, the computer is described.
+ (NSDictionary *)device;

/// The document of the subscription parameters.
+ (NSString *)parametersXML:(NSDictionary *)parameters;

/// What is said, with the kept parameters where nothing is said of them: by nil, or by a document of a user key's proof alone.
+ (NSString *)parametersXML:(NSString *)said kept:(NSString *)kept;

/// The body of a registration.
+ (NSString *)body:(NSDictionary *)registration integrationKey:(NSString *)key;

/// `/r/?id=h<broad log>,<delivery>,<tag>`, or nil when the notification carries no ids that can be tracked.
+ (NSString *)trackingPath:(NSDictionary *)userInfo action:(NSInteger)action;

/// Every byte of the UTF-8 form but the unreserved ones (RFC 3986, section 2.3) and those of `kept` becomes `%XX`.
+ (NSString *)encode:(NSString *)text keeping:(const char *)kept;

@end
