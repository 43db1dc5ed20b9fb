/// A time of day in a host's time zone.
package struct TimeOfDay: Sendable, Equatable {
    /// 0 to 23.
    package let hour: Int
    /// 0 to 59.
    package let minute: Int
    /// 0 to 59.
    package let second: Int

    /// Parses `HH:MM:SS`, two digits each; nil if the text is malformed.
    package init?(_ text: String) {
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
