/// One line from a child's standard output to the supervisor; at least one a second.
package struct ChildMessage: ProtocolMessage, Equatable {
    /// The version of the protocol.
    package var version: Int
    /// The status of the child; nil in a line about something else.
    package var status: ChildStatus?
    /// A report about a trace.
    package var trace: TraceReport?

    /// Creates a line with a status.
    package init(_ status: ChildStatus) {
        version = ProtocolVersion.current
        self.status = status
    }

    /// Creates a line about a trace.
    package init(_ trace: TraceReport) {
        version = ProtocolVersion.current
        self.trace = trace
    }

    /// Decodes a line; a line without a status or a trace is not part of this protocol.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        version = try values.decode(Int.self, forKey: .version)
        trace = try values.decodeIfPresent(TraceReport.self, forKey: .trace)
        status =
            trace == nil
            ? try values.decode(ChildStatus.self, forKey: .status)
            : try values.decodeIfPresent(ChildStatus.self, forKey: .status)
    }
}
