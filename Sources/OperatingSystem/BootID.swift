#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Darwin)
import Darwin
#endif

/// The identity of the system's current boot.
///
/// What a process wrote before it died is in its file; what it wrote before the machine went down may be lost. This id
/// in the header of each journal distinguishes the two.
package enum BootID {
    /// The id as 36 lower-case characters: `/proc/sys/kernel/random/boot_id` on Linux, `kern.bootsessionuuid` on macOS;
    /// nil where the system has none.
    package static func current() -> String? {
        #if canImport(Darwin)
        var text = [UInt8](repeating: 0, count: 64)
        var length = text.count
        guard sysctlbyname("kern.bootsessionuuid", &text, &length, nil, 0) == 0 else { return nil }
        return normal(String(decoding: text.prefix { $0 != 0 }, as: UTF8.self))
        #else
        guard let data = FileManager.default.contents(atPath: "/proc/sys/kernel/random/boot_id") else { return nil }
        return normal(String(decoding: data.prefix(36), as: UTF8.self))
        #endif
    }

    private static func normal(_ text: String) -> String? { UUID(uuidString: text)?.uuidString.lowercased() }
}
