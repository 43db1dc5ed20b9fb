import NIOCore
import PushCore

extension IPAddress {
    /// The address of a socket; nil for one of the file system.
    init?(_ address: SocketAddress) {
        // By its text: which module declares the fields of the system's structure depends on what else is imported.
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }
}
