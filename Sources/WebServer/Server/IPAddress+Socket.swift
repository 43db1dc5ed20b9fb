import NIOCore
import PushCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension IPAddress {
    /// The address of a socket; nil for one of the file system.
    init?(_ address: SocketAddress) {
        switch address {
        case .v4(let four): self.init(ipv4: UInt32(bigEndian: four.address.sin_addr.s_addr))
        case .v6:
            guard let text = address.ipAddress else { return nil }
            self.init(text)
        case .unixDomainSocket: return nil
        }
    }
}
