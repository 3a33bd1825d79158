#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Print the hwloc topology (XML, version 2) of a simulated machine: liblikwid takes the CPU's name
# from there when HWLOC_XMLFILE names such a file and HWLOC_THISSYSTEM=1.
#
#   topology.sh zen3|zen|skx|unsupported [N_CPUS]
#
# One package with N_CPUS cores (default: as many CPUs as here) of one hardware thread each.
# `unsupported` is a CPU that no LIKWID knows. Exit status 2 for another name or number.
set -eu

case ${1:-} in
zen3) vendor=AuthenticAMD family=25 model=1 stepping=1 name='Simulated Zen3' ;;
zen) vendor=AuthenticAMD family=23 model=1 stepping=2 name='Simulated Zen' ;;
skx) vendor=GenuineIntel family=6 model=85 stepping=4 name='Simulated Skylake-SP' ;;
unsupported) vendor=GenuineIntel family=6 model=253 stepping=1 name='Simulated unsupported' ;;
*) echo "topology.sh: unknown CPU '${1:-}'" >&2; exit 2 ;;
esac
n_cpus=${2:-$(getconf _NPROCESSORS_CONF)}
case $n_cpus in
*[!0-9]* | '' | 0) echo "topology.sh: '$n_cpus' is no number of CPUs" >&2; exit 2 ;;
esac
if [ "$n_cpus" -gt 32 ]; then
	n_cpus=32 # one word of hwloc's CPU sets
fi

# sets CPU_MASK: the attributes that say where an object is.
sets()
{
	printf 'cpuset="%s" complete_cpuset="%s" nodeset="0x1" complete_nodeset="0x1"' "$1" "$1"
}

# cache LEVEL SIZE WAYS TYPE OS_INDEX MASK: opens it.
cache()
{
	id=$((id + 1))
	printf '<object type="L%dCache" os_index="%d" %s gp_index="%d" cache_size="%d"' \
		"$1" "$5" "$(sets "$6")" "$id" "$2"
	printf ' depth="%d" cache_linesize="64" cache_associativity="%d" cache_type="%d">\n' \
		"$1" "$3" "$4"
}

all=$(printf '0x%x' $(((1 << n_cpus) - 1)))
cat <<END
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
<object type="Machine" os_index="0" $(sets "$all") allowed_cpuset="$all" allowed_nodeset="0x1" gp_index="1">
<info name="Backend" value="callmark simulator"/>
<object type="Package" os_index="0" $(sets "$all") gp_index="2">
<info name="CPUVendor" value="$vendor"/>
<info name="CPUFamilyNumber" value="$family"/>
<info name="CPUModelNumber" value="$model"/>
<info name="CPUModel" value="$name"/>
<info name="CPUStepping" value="$stepping"/>
<object type="NUMANode" os_index="0" $(sets "$all") gp_index="3" local_memory="4294967296"/>
END
id=3
cache 3 33554432 16 0 0 "$all"
cpu=0
while [ "$cpu" -lt "$n_cpus" ]; do
	mask=$(printf '0x%x' $((1 << cpu)))
	cache 2 524288 8 0 "$cpu" "$mask"
	cache 1 32768 8 1 "$cpu" "$mask"
	printf '<object type="Core" os_index="%d" %s gp_index="%d">\n' "$cpu" "$(sets "$mask")" \
		$((id + 1))
	printf '<object type="PU" os_index="%d" %s gp_index="%d"/>\n' "$cpu" "$(sets "$mask")" \
		$((id + 2))
	echo '</object></object></object>'
	id=$((id + 2))
	cpu=$((cpu + 1))
done
echo '</object></object></object></topology>'
