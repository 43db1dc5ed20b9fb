#import "NLSForm.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

NSString *const NLSToken = @"registrationToken";
NSString *const NLSUserKey = @"userKey";
NSString *const NLSParameters = @"additionalParams";
NSString *const NLSOptOut = @"optOut";
NSString *const NLSTimeZone = @"timeZone";
NSString *const NLSCategoriesOut = @"categoriesOptOut";
NSString *const NLSCategoriesIn = @"categoriesOptIn";

/// Whether the text is a UUID: 8-4-4-4-12 hexadecimal digits.
static BOOL isUUID(const char *text) {
    if (strlen(text) != 36) { return NO; }
    for (int index = 0; index < 36; index++) {
        BOOL isHyphen = index == 8 || index == 13 || index == 18 || index == 23;
        if (isHyphen ? text[index] != '-' : !isxdigit((unsigned char)text[index])) { return NO; }
    }
    return YES;
}

/// A message id in the form that a tracking URL has: a UUID unchanged, or a decimal number in hexadecimal; nil for
/// anything else. A negative number is the two's complement, in 32 bits if it fits and otherwise in 64.
static NSString *messageID(NSString *text) {
    const char *bytes = [text UTF8String];
    if (bytes == NULL) { return nil; }
    if (isUUID(bytes)) { return text; }
    const char *digits = *bytes == '-' || *bytes == '+' ? bytes + 1 : bytes;
    if (*digits == 0 || strspn(digits, "0123456789") != strlen(digits)) { return nil; }
    errno = 0;
    long long number = strtoll(bytes, NULL, 10);
    if (errno != 0) { return nil; }
    if (number < 0 && number >= INT32_MIN) { return [NSString stringWithFormat:@"%x", (uint32_t)(int32_t)number]; }
    return [NSString stringWithFormat:@"%02llx", (unsigned long long)number];
}

/// The text as the value of an attribute. Line breaks and characters that XML 1.0 (section 2.2) cannot represent are
/// dropped: a server would refuse the whole registration because of one.
static NSString *escape(NSString *text) {
    NSMutableString *result = [NSMutableString stringWithCapacity:[text length]];
    NSUInteger length = [text length];
    for (NSUInteger index = 0; index < length; index++) {
        unichar unit = [text characterAtIndex:index];
        unichar next = index + 1 < length ? [text characterAtIndex:index + 1] : 0;
        if (unit == '&') {
            [result appendString:@"&amp;"];
        } else if (unit == '<') {
            [result appendString:@"&lt;"];
        } else if (unit == '>') {
            [result appendString:@"&gt;"];
        } else if (unit == '"') {
            [result appendString:@"&quot;"];
        } else if (unit == '\'') {
            [result appendString:@"&#x27;"];
        } else if (unit >= 0xD800 && unit < 0xDC00 && next >= 0xDC00 && next < 0xE000) {
            [result appendString:[text substringWithRange:NSMakeRange(index, 2)]];
            index++;
        } else if ((unit >= 0x20 || unit == '\t') && unit < 0xFFFE && (unit < 0xD800 || unit >= 0xE000)) {
            [result appendString:[text substringWithRange:NSMakeRange(index, 1)]];
        }
    }
    return result;
}

/// The value of a parameter as the server gets it; nil if it is not sent.
static NSString *valueText(id value) {
    if ([value isKindOfClass:[NSString class]]) { return value; }
    if (![value isKindOfClass:[NSNumber class]]) { return nil; }
    // Booleans have their own class, which no header declares.
    if ([value class] == [[NSNumber numberWithBool:YES] class]) { return [value boolValue] ? @"true" : @"false"; }
    return [value stringValue];
}

/// The element with the proof of the user key, or nil. Its value contains no quotation mark, as it is escaped.
static NSString *proofElement(NSString *document) {
    NSRange start = [document rangeOfString:@"<param name=\"userKeyProof\" value=\""];
    if (start.location == NSNotFound) { return nil; }
    NSRange rest = NSMakeRange(NSMaxRange(start), [document length] - NSMaxRange(start));
    NSRange end = [document rangeOfString:@"\" />" options:0 range:rest];
    if (end.location == NSNotFound) { return nil; }
    return [document substringWithRange:NSMakeRange(start.location, NSMaxRange(end) - start.location)];
}

@implementation NLSForm

+ (NSString *)base:(NSString *)host {
    NSString *base = [host stringByTrimmingCharactersInSet:[NSCharacterSet whitespaceAndNewlineCharacterSet]];
    if ([base length] == 0) { return nil; }
    if ([base rangeOfString:@"://"].location == NSNotFound) { base = [@"https://" stringByAppendingString:base]; }
    while ([base hasSuffix:@"/"]) { base = [base substringToIndex:[base length] - 1]; }
    NSURL *url = [NSURL URLWithString:base];
    NSString *scheme = [[url scheme] lowercaseString];
    if (![scheme isEqualToString:@"http"] && ![scheme isEqualToString:@"https"]) { return nil; }
    if ([[url host] length] == 0 || [url query] != nil || [url fragment] != nil) { return nil; }
    return base;
}

+ (NSString *)token:(NSString *)text {
    if (text == nil) { return @""; }
    NSArray *parts = [text componentsSeparatedByCharactersInSet:[NSCharacterSet characterSetWithCharactersInString:@"<> "]];
    return [[parts componentsJoinedByString:@""] lowercaseString];
}

+ (NSDictionary *)device {
    NSString *name = [[NSProcessInfo processInfo] hostName];
    NSString *model = @"computer";
    NSString *system = @"unknown";
    NSString *version = [[NSProcessInfo processInfo] operatingSystemVersionString];
#if defined(__linux__)
    system = @"Linux";
#endif
    // The class is looked up by name, so that the library needs only Foundation.
    Class deviceClass = NSClassFromString(@"UIDevice");
    if ([deviceClass respondsToSelector:@selector(currentDevice)]) {
        id device = [deviceClass performSelector:@selector(currentDevice)];
        name = [device valueForKey:@"name"];
        model = [device valueForKey:@"model"];
        system = [device valueForKey:@"systemName"];
        version = [device valueForKey:@"systemVersion"];
    }
    NSString *language = [[NSLocale currentLocale] localeIdentifier];
    return [NSDictionary dictionaryWithObjectsAndKeys:
        name == nil ? @"" : name, @"deviceName",
        model == nil ? @"" : model, @"deviceModel",
        system == nil ? @"" : system, @"osName",
        [NSString stringWithFormat:@"%@ %@", system == nil ? @"" : system, version == nil ? @"" : version], @"osVersion",
        language == nil ? @"" : [language stringByReplacingOccurrencesOfString:@"_" withString:@"-"], @"osLanguage", nil];
}

+ (NSString *)parametersXML:(NSDictionary *)parameters {
    NSMutableArray *names = [NSMutableArray array];
    NSEnumerator *keys = [parameters keyEnumerator];
    id key;
    while ((key = [keys nextObject]) != nil) {
        if ([key isKindOfClass:[NSString class]]) { [names addObject:key]; }
    }
    [names sortUsingSelector:@selector(compare:)];
    NSMutableString *document = [NSMutableString stringWithString:@"<additionalParams>"];
    for (NSUInteger index = 0; index < [names count]; index++) {
        NSString *name = [names objectAtIndex:index];
        NSString *value = valueText([parameters objectForKey:name]);
        if (value == nil) { continue; }
        [document appendFormat:@"<param name=\"%@\" value=\"%@\" />", escape(name), escape(value)];
    }
    [document appendString:@"</additionalParams>"];
    return document;
}

+ (NSString *)parametersXML:(NSString *)said kept:(NSString *)kept {
    if (said == nil) { return kept != nil ? kept : [self parametersXML:nil]; }
    if (kept == nil) { return said; }
    NSString *head = @"<additionalParams>";
    NSString *tail = @"</additionalParams>";
    NSString *proof = proofElement(said);
    if (proof == nil || ![said isEqualToString:[NSString stringWithFormat:@"%@%@%@", head, proof, tail]]) { return said; }
    NSString *old = proofElement(kept);
    if (old != nil) { kept = [kept stringByReplacingOccurrencesOfString:old withString:@""]; }
    return [NSString stringWithFormat:@"%@%@%@", [kept substringToIndex:[kept length] - [tail length]], proof, tail];
}

+ (NSString *)body:(NSDictionary *)registration integrationKey:(NSString *)key {
    NSMutableDictionary *values = [NSMutableDictionary dictionaryWithDictionary:registration];
    [values setObject:key forKey:@"mobileAppUuid"];
    [values setObject:@"Apple" forKey:@"deviceBrand"];
    [values setObject:@"Apple" forKey:@"deviceManufacturer"];
    // In the order of Adobe's SDK.
    NSMutableArray *names = [NSMutableArray arrayWithObjects:
        NLSToken, @"mobileAppUuid", NLSUserKey, @"deviceName", @"deviceModel", @"deviceBrand", @"deviceManufacturer", @"osName",
        @"osVersion", @"osLanguage", NLSParameters, nil];
    // Without an opt-out and a time zone the form is that of Adobe's SDK.
    NSArray *words = [NSArray arrayWithObjects:NLSOptOut, NLSTimeZone, NLSCategoriesOut, NLSCategoriesIn, nil];
    for (NSUInteger index = 0; index < [words count]; index++) {
        NSString *word = [words objectAtIndex:index];
        if ([registration objectForKey:word] != nil) { [names addObject:word]; }
    }
    NSMutableArray *fields = [NSMutableArray array];
    for (NSUInteger index = 0; index < [names count]; index++) {
        NSString *name = [names objectAtIndex:index];
        id value = [values objectForKey:name];
        NSString *text = [value isKindOfClass:[NSString class]] ? value : @"";
        [fields addObject:[NSString stringWithFormat:@"%@=%@", name, [self encode:text keeping:""]]];
    }
    return [fields componentsJoinedByString:@"&"];
}

+ (NSString *)trackingPath:(NSDictionary *)userInfo action:(NSInteger)action {
    if (![userInfo isKindOfClass:[NSDictionary class]] || (action != 1 && action != 2)) { return nil; }
    // If these are launch options: the notification that started the app.
    id inner = [userInfo objectForKey:@"UIApplicationLaunchOptionsRemoteNotificationKey"];
    if ([inner isKindOfClass:[NSDictionary class]]) { userInfo = inner; }
    id message = [userInfo objectForKey:@"_mId"];
    id delivery = [userInfo objectForKey:@"_dId"];
    // Ids count only if they are strings, as in Adobe's SDK.
    if (![message isKindOfClass:[NSString class]] || ![delivery isKindOfClass:[NSString class]]) { return nil; }
    NSString *broadLog = messageID(message);
    if (broadLog == nil || [delivery length] == 0) { return nil; }
    // The delivery's id is sent back unchanged. An id with blanks or control characters is not one of PushMTA.
    for (NSUInteger index = 0; index < [delivery length]; index++) {
        unichar unit = [delivery characterAtIndex:index];
        if (unit <= 0x20 || unit == 0x7F || unit == '#') { return nil; }
    }
    delivery = [self encode:delivery keeping:"!$&'()*+,;=:@/?%"];
    return [NSString stringWithFormat:@"/r/?id=h%@,%@,%ld", broadLog, delivery, (long)action];
}

+ (NSString *)opened:(NSString *)path {
    return [path hasSuffix:@",2"] ? [path substringToIndex:[path length] - 1] : nil;
}

+ (NSString *)conversion:(NSString *)name value:(NSNumber *)value {
    NSString *end = [NSString stringWithFormat:@"4&name=%@", [self encode:name keeping:""]];
    if (![value isKindOfClass:[NSNumber class]] || !isfinite([value doubleValue])) { return end; }
    return [end stringByAppendingFormat:@"&value=%@", [self encode:[value stringValue] keeping:""]];
}

+ (NSString *)encode:(NSString *)text keeping:(const char *)kept {
    NSData *data = [text dataUsingEncoding:NSUTF8StringEncoding allowLossyConversion:YES];
    const unsigned char *bytes = [data bytes];
    NSMutableString *result = [NSMutableString stringWithCapacity:[data length]];
    for (NSUInteger index = 0; index < [data length]; index++) {
        unsigned char byte = bytes[index];
        BOOL isPlain = byte < 0x80 && byte != 0 && (isalnum(byte) || strchr("-._~", byte) || strchr(kept, byte));
        [result appendFormat:isPlain ? @"%c" : @"%%%02X", byte];
    }
    return result;
}

@end
