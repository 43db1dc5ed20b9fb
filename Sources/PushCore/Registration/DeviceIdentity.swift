/// Ids of devices, and what devices send that have none.
///
/// A new token of a device ends the one before it. An id that many devices have would let each of them end all others, and an SDK
/// does not send the same registration again.
public enum DeviceIdentity {
    /// Ids that are none, in lower case and without what is neither letter nor digit: the ANDROID_ID that many devices with
    /// Android 2.2 have and old emulators, the MAC address that Android 6 and later give to apps, what programs write where there
    /// is nothing, and the numbers that people count up to.
    private static let constants: Set<String> = [
        "9774d56d682e549c", "020000000000", "unknown", "android", "androidid", "emulator", "null", "nil", "none",
        "undefined",
        "na", "notavailable", "012345678912345", "123456789012345",
    ]
    /// So many times the same character is no chance.
    private static let shortestRun = 8

    /// An id as it is kept: nil for what does not tell one device from another.
    public static func kept(_ id: String?) -> String? {
        guard let id, !isConstant(id) else { return nil }
        return id
    }

    private static func isConstant(_ id: String) -> Bool {
        let core = id.lowercased().filter { $0.isLetter || $0.isNumber }
        guard let first = core.first else { return true }
        if core.allSatisfy({ $0 == first }), first == "0" || core.count >= shortestRun { return true }
        return constants.contains(core)
    }
}
