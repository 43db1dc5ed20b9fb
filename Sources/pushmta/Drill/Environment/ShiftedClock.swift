import Foundation
import SystemPackage

/// A wall clock that is wrong by what we say, for processes that are started with its environment.
///
/// Their monotonic clocks are right, as on a machine whose wall clock is stepped. The library of target ClockShift does it; it
/// reads the shift from a mapped file, so that a step is seen at the next look at the clock.
struct ShiftedClock: Sendable {
    /// The folder of the file with the shift.
    private let folder: String
    /// The file with the shift.
    private let file: FilePath
    /// The library that the processes load.
    private let library: String

    /// A clock for the processes of a drill; it is right at first.
    ///
    /// - Parameters:
    ///   - folder: for the file alone; every user must be able to reach it, as servers run as others.
    ///   - programs: the product's programs, beside which the library lies.
    /// - Throws: `CommandFailure` if the library was not built.
    init(folder: String, programs: Executables) throws {
        self.folder = folder
        library = programs.library("libClockShift.so")
        guard FileManager.default.fileExists(atPath: library) else {
            throw CommandFailure(
                .unavailable,
                "\(library) is not there: build it with swift build -c release --product ClockShift"
            )
        }
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        file = FilePath(folder + "/clock-shift")
        try set(.zero)
    }

    /// What the processes need in their environment.
    var environment: [String: String] {
        ["LD_PRELOAD": library, "CLOCK_SHIFT_FILE": file.string]
    }

    /// Steps the clock so that it is ahead of the machine's by this much; behind, if negative.
    func set(_ shift: Duration) throws {
        let (seconds, attoseconds) = shift.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        let bits = UInt64(bitPattern: nanoseconds)
        // The machine's byte order: the library maps the file as a number.
        let shifts = (0..<8).map { UInt64($0) * 8 }
        let bytes = shifts.map { UInt8(truncatingIfNeeded: bits.littleEndian >> $0) }
        let descriptor = try FileDescriptor.open(
            file,
            .readWrite,
            options: [.create],
            permissions: [.ownerReadWrite, .groupRead, .otherRead]
        )
        try descriptor.closeAfter { _ = try descriptor.writeAll(toAbsoluteOffset: 0, bytes) }
    }

    /// Whether a process has loaded the library and mapped the file with the shift. A library that cannot be loaded is only
    /// warned of, and one that cannot open its file shifts nothing.
    func isUsed(by process: Int32) -> Bool {
        let lines = Self.maps(of: process).split(separator: "\n")
        // The kernel names files without the links on the way to them.
        let paths = [library, file.string].map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
        return paths.allSatisfy { path in lines.contains { $0.hasSuffix(" " + path) } }
    }

    /// What a process has mapped, as Linux says it; empty if it has ended. The kernel gives it a page at a time, where a reader of
    /// whole files takes the first short answer for the end.
    private static func maps(of process: Int32) -> String {
        guard let handle = FileHandle(forReadingAtPath: "/proc/\(process)/maps") else { return "" }
        defer { try? handle.close() }
        var bytes = Data()
        while let piece = try? handle.read(upToCount: 4_096), !piece.isEmpty { bytes.append(piece) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A command for the shell that removes the folder.
    var removalCommand: String { "rm -rf '\(folder)'" }

    /// Removes the folder; processes that have mapped the file keep the last shift.
    func remove() {
        try? FileManager.default.removeItem(atPath: folder)
    }
}
