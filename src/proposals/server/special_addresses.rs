//! Which addresses are on the public internet, by IANA's special-purpose address registries.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A block of addresses, and whether the registry calls it globally reachable. What it leaves open ("N/A") is not.
type Block<Address> = (Address, u32, bool);

const fn v4(one: u8, two: u8, three: u8, four: u8, prefix: u32, is_global: bool) -> Block<Ipv4Addr> {
    (Ipv4Addr::new(one, two, three, four), prefix, is_global)
}

const fn v6(start: [u16; 4], prefix: u32, is_global: bool) -> Block<Ipv6Addr> {
    let [one, two, three, four] = start;
    (Ipv6Addr::new(one, two, three, four, 0, 0, 0, 0), prefix, is_global)
}

/// IANA IPv4 Special-Purpose Address Registry (RFC 6890), and the multicast addresses (RFC 5771).
const SPECIAL_V4: [Block<Ipv4Addr>; 21] = [
    v4(0, 0, 0, 0, 8, false),
    v4(10, 0, 0, 0, 8, false),
    v4(100, 64, 0, 0, 10, false),
    v4(127, 0, 0, 0, 8, false),
    v4(169, 254, 0, 0, 16, false),
    v4(172, 16, 0, 0, 12, false),
    v4(192, 0, 0, 0, 24, false),
    v4(192, 0, 0, 9, 32, true),
    v4(192, 0, 0, 10, 32, true),
    v4(192, 0, 2, 0, 24, false),
    v4(192, 31, 196, 0, 24, true),
    v4(192, 52, 193, 0, 24, true),
    v4(192, 88, 99, 0, 24, false),
    v4(192, 168, 0, 0, 16, false),
    v4(192, 175, 48, 0, 24, true),
    v4(198, 18, 0, 0, 15, false),
    v4(198, 51, 100, 0, 24, false),
    v4(203, 0, 113, 0, 24, false),
    v4(224, 0, 0, 0, 4, false),
    v4(240, 0, 0, 0, 4, false),
    v4(255, 255, 255, 255, 32, false),
];

/// IANA IPv6 Special-Purpose Address Registry (RFC 6890). Only 2000::/3 is assigned to the internet (RFC 4291), so blocks
/// outside of it need no entry: ::/96, 64:ff9b:1::/48, 100::/64, 100:0:0:1::/64, 5f00::/16, fc00::/7, fe80::/10, ff00::/8.
const SPECIAL_V6: [Block<Ipv6Addr>; 16] = [
    v6([0x2001, 0, 0, 0], 23, false),
    v6([0x2001, 0, 0, 0], 32, false),
    (Ipv6Addr::new(0x2001, 1, 0, 0, 0, 0, 0, 1), 128, true),
    (Ipv6Addr::new(0x2001, 1, 0, 0, 0, 0, 0, 2), 128, true),
    (Ipv6Addr::new(0x2001, 1, 0, 0, 0, 0, 0, 3), 128, true),
    v6([0x2001, 2, 0, 0], 48, false),
    v6([0x2001, 3, 0, 0], 32, true),
    v6([0x2001, 4, 0x112, 0], 48, true),
    v6([0x2001, 0x10, 0, 0], 28, false),
    v6([0x2001, 0x20, 0, 0], 28, true),
    v6([0x2001, 0x30, 0, 0], 28, true),
    v6([0x2001, 0xdb8, 0, 0], 32, false),
    v6([0x2002, 0, 0, 0], 16, false),
    v6([0x2620, 0x4f, 0x8000, 0], 48, true),
    v6([0x3fff, 0, 0, 0], 20, false),
    // The whole of it, so that every address has an entry.
    v6([0x2000, 0, 0, 0], 3, true),
];

/// Whether an address is on the public internet, rather than on this machine, in its network, or reserved.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => match embedded_v4(address) {
            Some(address) => is_public_v4(address),
            None => {
                let contains = |start: Ipv6Addr, prefix| (start.to_bits() ^ address.to_bits()) >> (128 - prefix) == 0;
                narrowest(&SPECIAL_V6, contains).unwrap_or(false)
            }
        },
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let contains = |start: Ipv4Addr, prefix| (start.to_bits() ^ address.to_bits()) >> (32 - prefix) == 0;
    narrowest(&SPECIAL_V4, contains).unwrap_or(true)
}

/// What the narrowest block says that contains an address. It is an exception in the wider ones.
fn narrowest<Address: Copy>(blocks: &[Block<Address>], contains: impl Fn(Address, u32) -> bool) -> Option<bool> {
    let containing = blocks.iter().filter(|(start, prefix, _)| contains(*start, *prefix));
    containing.max_by_key(|(_, prefix, _)| *prefix).map(|(_, _, is_global)| *is_global)
}

/// The IPv4 address that a packet to this address ends at: mapped (RFC 4291), or translated (RFC 6052).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))),
        _ => address.to_ipv4_mapped(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn e34_addresses_of_this_machine_and_its_networks_are_not_public() {
        for address in [
            "127.0.0.1",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "fe80::1",
            "fd00:ec2::254",
            "ff02::1",
            "::ffff:169.254.169.254",
            "::ffff:10.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "2002:101:101::",
            "::1.1.1.1",
        ] {
            assert!(!is_public(address.parse().expect(address)), "{address}");
        }
        for address in ["1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
        {
            assert!(is_public(address.parse().expect(address)), "{address}");
        }
    }

    #[test]
    fn e34_the_registries_decide_at_the_ends_of_each_block() {
        // The first and the last address of a block, and the neighbours outside that are something else.
        for (first, last, is_public_inside, before, after) in [
            ("0.0.0.0", "0.255.255.255", false, "", "1.0.0.0"),
            ("10.0.0.0", "10.255.255.255", false, "9.255.255.255", "11.0.0.0"),
            ("100.64.0.0", "100.127.255.255", false, "100.63.255.255", "100.128.0.0"),
            ("127.0.0.0", "127.255.255.255", false, "126.255.255.255", "128.0.0.0"),
            ("169.254.0.0", "169.254.255.255", false, "169.253.255.255", "169.255.0.0"),
            ("172.16.0.0", "172.31.255.255", false, "172.15.255.255", "172.32.0.0"),
            ("192.0.0.0", "192.0.0.8", false, "191.255.255.255", "192.0.0.9"),
            ("192.0.0.9", "192.0.0.10", true, "192.0.0.8", "192.0.0.11"),
            ("192.0.0.11", "192.0.0.255", false, "192.0.0.10", "192.0.1.0"),
            ("192.0.2.0", "192.0.2.255", false, "192.0.1.255", "192.0.3.0"),
            ("192.31.196.0", "192.31.196.255", true, "", ""),
            ("192.52.193.0", "192.52.193.255", true, "", ""),
            ("192.88.99.0", "192.88.99.255", false, "192.88.98.255", "192.88.100.0"),
            ("192.168.0.0", "192.168.255.255", false, "192.167.255.255", "192.169.0.0"),
            ("192.175.48.0", "192.175.48.255", true, "", ""),
            ("198.18.0.0", "198.19.255.255", false, "198.17.255.255", "198.20.0.0"),
            ("198.51.100.0", "198.51.100.255", false, "198.51.99.255", "198.51.101.0"),
            ("203.0.113.0", "203.0.113.255", false, "203.0.112.255", "203.0.114.0"),
            ("224.0.0.0", "255.255.255.255", false, "223.255.255.255", ""),
            ("::", "::1", false, "", ""),
            ("64:ff9b::c000:200", "64:ff9b::c000:2ff", false, "64:ff9b::c000:1ff", "64:ff9b::c000:300"),
            ("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", false, "", ""),
            ("100::", "100::1:ffff:ffff:ffff:ffff", false, "", ""),
            ("2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", false, "2000:ffff::", ""),
            ("2001:1::1", "2001:1::3", true, "2001:1::", "2001:1::4"),
            ("2001:2::", "2001:2:0:ffff:ffff:ffff:ffff:ffff", false, "", ""),
            ("2001:3::", "2001:3:ffff:ffff:ffff:ffff:ffff:ffff", true, "2001:2:ffff::", "2001:4::"),
            ("2001:4:112::", "2001:4:112:ffff:ffff:ffff:ffff:ffff", true, "2001:4:111::", "2001:4:113::"),
            ("2001:10::", "2001:1f:ffff:ffff:ffff:ffff:ffff:ffff", false, "", "2001:20::"),
            ("2001:20::", "2001:3f:ffff:ffff:ffff:ffff:ffff:ffff", true, "2001:1f::", "2001:40::"),
            ("2001:40::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", false, "2001:3f::", "2001:200::"),
            ("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", false, "2001:db7:ffff::", "2001:db9::"),
            ("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, "2001:ffff::", "2003::"),
            ("2620:4f:8000::", "2620:4f:8000:ffff:ffff:ffff:ffff:ffff", true, "", ""),
            ("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", false, "3ffe:ffff::", "3fff:1000::"),
            ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, "3fff:ffff::", ""),
            ("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", false, "", ""),
        ] {
            let check = |address: &str, expected: bool| {
                let address: IpAddr = address.parse().expect(address);
                assert_eq!(is_public(address), expected, "{address}");
                if let IpAddr::V4(address) = address {
                    assert_eq!(is_public(address.to_ipv6_mapped().into()), expected, "{address} as IPv6");
                }
            };
            [first, last].iter().for_each(|inside| check(inside, is_public_inside));
            [before, after].iter().filter(|at| !at.is_empty()).for_each(|outside| check(outside, !is_public_inside));
        }
    }
}
