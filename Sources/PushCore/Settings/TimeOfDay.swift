/// A time of day on a host's own clock and in its time zone.
public struct TimeOfDay: Sendable, Equatable {
    /// 0 to 23.
    public let hour: Int
    /// 0 to 59.
    public let minute: Int
    /// 0 to 59.
    public let second: Int

    /// Reads `HH:MM:SS`, two digits each; `nil` if the text is anything else.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        let areDigits = parts.allSatisfy { $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard parts.count == 3, areDigits, let hour = Int(parts[0]), let minute = Int(parts[1]),
            let second = Int(parts[2]), hour < 24, minute < 60, second < 60
        else { return nil }
        self.hour = hour
        self.minute = minute
        self.second = second
    }
}
