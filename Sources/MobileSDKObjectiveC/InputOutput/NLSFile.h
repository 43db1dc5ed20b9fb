#import <Foundation/Foundation.h>

/// A property list that outlives the process.
@interface NLSFile : NSObject {
@private
    NSString *_path;
}

/// The library's folder in the app's support folder.
+ (NSString *)supportFolder;

+ (NLSFile *)named:(NSString *)name in:(NSString *)folder;

/// What was written; nil when nothing was, or when it cannot be read: then the device registers again, which does no harm.
- (NSDictionary *)read;

/// Writes all of it or nothing. What cannot be written is lost only if the process ends before the server has it.
- (void)write:(NSDictionary *)content;

@end
