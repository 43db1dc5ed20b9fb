import Foundation

/// Where file systems are mounted, in the words of `/proc/self/mounts`.
struct MountList: Sendable {
    /// The mount points.
    let points: [String]

    /// Reads the list: a line each, whose second word is the mount point with blanks as octal numbers.
    init(_ text: String) {
        points = text.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            return words.count > 1 ? String(words[1]).replacing("\\040", with: " ") : nil
        }
    }

    /// What is mounted now.
    static var current: MountList {
        MountList((try? String(contentsOfFile: "/proc/self/mounts", encoding: .utf8)) ?? "")
    }

    /// The mount points that are one of these folders or lie in one.
    func under(_ folders: [String]) -> [String] {
        points.filter { point in folders.contains { point == $0 || point.hasPrefix($0 + "/") } }
    }
}
