import Foundation

/// One process, as Linux shows it under /proc.
package struct ProcessRecord: Sendable, Equatable {
    package let id: Int32
    package let parent: Int32
    /// The CPU time it has used, in seconds, without its children.
    package let cpuSeconds: Double
    /// The CPU time of its ended children and their descendants, in seconds.
    package let endedChildrenCPUSeconds: Double
    /// Its start time, in clock ticks since boot: together with the id, it identifies a process uniquely, even after the id is reused.
    package let startTicks: UInt64

    /// Clock ticks per second, the unit of /proc.
    private static let ticksPerSecond = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))

    /// Reads the process with this id; `nil` if it has ended.
    package init?(_ id: Int32) {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
            let nameEnd = text.lastIndex(of: ")")
        else { return nil }
        // Fields of proc(5) from the third on: state, ppid, and so on. utime, stime, cutime and cstime are fields 14
        // to 17, starttime is field 22.
        let fields = text[text.index(after: nameEnd)...].split(separator: " ")
        guard fields.count > 19, fields[0] != "Z", let parent = Int32(fields[1]), let user = Double(fields[11]),
            let system = Double(fields[12]), let endedUser = Double(fields[13]), let endedSystem = Double(fields[14]),
            let start = UInt64(fields[19])
        else { return nil }
        self.id = id
        self.parent = parent
        cpuSeconds = (user + system) / Self.ticksPerSecond
        endedChildrenCPUSeconds = (endedUser + endedSystem) / Self.ticksPerSecond
        startTicks = start
    }

    /// The peak resident memory of the process, in bytes.
    package var peakResidentBytes: Int64? {
        guard let text = try? String(contentsOfFile: "/proc/\(id)/status", encoding: .utf8) else { return nil }
        for line in text.split(separator: "\n") where line.hasPrefix("VmHWM:") {
            return line.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.flatMap { Int64($0) }.map {
                $0 * 1_024
            }
        }
        return nil
    }

    /// The command line, with its words separated by spaces.
    package var commandLine: String {
        guard let data = FileManager.default.contents(atPath: "/proc/\(id)/cmdline") else { return "" }
        return String(decoding: data.map { $0 == 0 ? UInt8(ascii: " ") : $0 }, as: UTF8.self)
    }

    /// Every readable process of the machine.
    package static func all() -> [ProcessRecord] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.compactMap { ProcessRecord($0) }
    }

    /// `ancestor` and all of its descendants.
    package static func family(of ancestor: Int32) -> [ProcessRecord] {
        let all = all()
        var known: Set<Int32> = [ancestor]
        var grew = true
        while grew {
            grew = false
            for process in all where known.contains(process.parent) && known.insert(process.id).inserted { grew = true }
        }
        return all.filter { known.contains($0.id) }
    }
}

extension ProcessRecord {
    /// The ids of the processes that have ended, but that this parent has not reaped yet.
    package static func zombies(of parent: Int32) -> [Int32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { Int32($0) }.filter { id in
            guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8),
                let nameEnd = text.lastIndex(of: ")")
            else { return false }
            let fields = text[text.index(after: nameEnd)...].split(separator: " ")
            return fields.count > 1 && fields[0] == "Z" && Int32(fields[1]) == parent
        }
    }
}
