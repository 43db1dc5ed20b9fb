import SystemPackage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Which executable the children are.
enum ExecutablePath {
    /// The path from the settings, or the running program's own file.
    ///
    /// On Linux `/proc/self/exe` is resolved at once: after an upgrade has replaced the file, new children are new programs,
    /// which the settings ask for in that the path stays the same.
    static func resolve(_ setting: String) throws -> FilePath {
        if !setting.isEmpty { return FilePath(setting) }
        #if os(Linux)
        var own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        // The kernel marks a file that was replaced while it ran; the new one is at the same place.
        let mark = " (deleted)"
        if own.hasSuffix(mark) { own.removeLast(mark.count) }
        return FilePath(own)
        #else
        let own = CommandLine.arguments.first ?? ""
        guard own.hasPrefix("/") else {
            throw SupervisorError(
                .setting,
                "The path of the children's executable is not known, as '\(own)' is not absolute. "
                    + "Set mta.master.executablePath."
            )
        }
        return FilePath(own)
        #endif
    }
}
