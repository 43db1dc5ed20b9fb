extension ChildStatus {
    /// Reads a status of this or an older version; counters that an older child does not write are 0.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            pid: try values.decode(Int32.self, forKey: .pid),
            generation: try values.decode(Int32.self, forKey: .generation),
            state: try values.decode(ChildState.self, forKey: .state),
            partsHeld: try values.decode(Int.self, forKey: .partsHeld),
            inFlight: try values.decode(Int.self, forKey: .inFlight),
            sent: try values.decode(Int64.self, forKey: .sent),
            failed: try values.decode(Int64.self, forKey: .failed),
            retried: try values.decode(Int64.self, forKey: .retried),
            late: try values.decodeIfPresent(Int64.self, forKey: .late) ?? 0,
            unknown: try values.decodeIfPresent(Int64.self, forKey: .unknown) ?? 0,
            resent: try values.decodeIfPresent(Int64.self, forKey: .resent) ?? 0,
            residentBytes: try values.decode(Int64.self, forKey: .residentBytes),
            progress: try values.decode(UInt64.self, forKey: .progress),
            exitReason: try Self.exitReason(values)
        )
    }

    /// A reason of a newer child that this version does not know is none, so that its line still counts.
    private static func exitReason(_ values: KeyedDecodingContainer<CodingKeys>) throws -> ChildExitReason? {
        try values.decodeIfPresent(String.self, forKey: .exitReason).flatMap(ChildExitReason.init(rawValue:))
    }
}
